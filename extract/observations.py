"""Past prices from a CSV of observations: what somebody else saw, when, and where they say it.

The header has `observed_at_utc, provider, region, pricing, usd_per_hour` and either `instance_type` or `gpu` and
`gpu_count`; `term, payment, currency, source, tier_raw, gpu_raw, flags` are read when present, others are ignored.
An empty price means "not offered from here on". Each origin named in `source` becomes a source of its own, called
`import:<origin>`, so that two origins can say different things of one offer without contradiction.

Quirks:

1. A `source` of the form `repository@commit` differs in every row of one history: the origin is the part before "@".
2. One collector's tiers and raw names of a chip often hold different prices at one time, so both are part of the offer:
   the tier as `tier`, the raw name as `accelerator_label`; `gpu`, a reading of it, stands in where it is empty.
3. `usd_per_hour` is the price of the whole machine; beside it no other currency is believed.
4. A row that its own collector doubts is no price: `DOUBTFUL` has the flags, and `flagged` gives such rows.
5. The least of several prices is another statistic than a price: a `floor`. It moves when another offer is the least.
6. `no_capacity` says that nobody could rent at the price; the price itself is one.
"""

import csv
import io
import re
from pathlib import PurePath

import polars as pl

from extract.neoclouds import SOURCES
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.schema.tables import OBSERVATION
from warehouse.schema.vocabulary import HOURS_PER_YEAR

NAME = "import"
PREFIX = "import:"
REQUIRED = ("observed_at_utc", "provider", "region", "pricing", "usd_per_hour")
OPTIONAL = (
    *("instance_type", "gpu", "gpu_count", "gpu_raw", "term", "payment"),
    *("currency", "source", "tier_raw", "flags"),
)
NOT_CSV, CSV_HINT = "not a CSV of observations", "Check that it is whole and saved as UTF-8 text with commas"
COLUMNS_HINT = "docs/importing.md lists the columns"
_NOISE = r"[^a-z0-9]"
PROVIDERS = {
    "aws": "AWS",
    "amazon": "AWS",
    "amazonwebservices": "AWS",
    "datacrunch": "Verda",
    "lambdalabs": "Lambda",
} | {re.sub(_NOISE, "", name.lower()): source.provider for source in SOURCES for name in (source.name, source.provider)}
"""How providers write themselves, by their names in small letters and digits: vast.ai and Vast.ai are one."""
MAX_HEADER_BYTES = 1 << 16
"""Each name is read as a column, and a million of them take hundreds of megabytes."""
TWICE = "_duplicated_0"
"""What polars puts behind a name that stands there for the second time."""
TERMS = {"1yr": HOURS_PER_YEAR, "1 year": HOURS_PER_YEAR, "3yr": 3 * HOURS_PER_YEAR, "3 years": 3 * HOURS_PER_YEAR}
DOUBTFUL = (
    # the collector says that it is, or may be, the price of something else
    "suspect_",
    "placeholder_",
    "unit_unknown",
    "unit_mixed",
    # of several tiers, or perhaps of another purchase option: options are never mixed
    "blended_tier",
    "min_over_sizes_may_include_spot",
    # nobody looked: the last price, written down once more
    "stale_carried_forward",
    # the provider asks euros: the dollars are the collector's, and move with a rate that the row does not state
    "fx_converted_",
)
"""Beginnings of the flags of rows that are kept out of all prices."""

NOTHING = ("nan", "null", "none", "n/a", "<na>")
"""What programs write into a cell that has nothing, in small letters."""
MEDIANS = ("median_of_offers", "median_from_report")
FLOORS = ("cheapest_listed", "cheapest_live_offer")
"""Flags of the middle and of the least of several prices."""


def provider_named(text: str) -> str:
    """Return how a provider writes itself; the text as it is where nobody here is called so."""
    return PROVIDERS.get(re.sub(_NOISE, "", text.lower()), text)


def is_import(source: str) -> bool:
    """Return whether a journalled look is an import."""
    return source == NAME


def parse(document: Document) -> dict[str, pl.DataFrame]:
    """Return the observations of a CSV, by origin, without those that their collector flagged as doubtful.

    The columns are `warehouse.schema.tables.OBSERVATION`, `observed_at` (naive UTC; NULL where the text is no time) and
    `observed_at_utc` (the text). Raises LayoutChanged where the file is no such CSV.
    """
    return _by_origin(_rows(document).filter(pl.col("flag").is_null()).drop("flag"))


def flagged(document: Document) -> dict[str, pl.DataFrame]:
    """Return the rows of a CSV that their collector flagged as doubtful, by origin.

    The columns are those of `parse`, and `flag`: which of its flags it was. Raises LayoutChanged as `parse` does.
    """
    return _by_origin(_rows(document).filter(pl.col("flag").is_not_null()))


def _by_origin(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(origin): group.drop("origin") for (origin,), group in rows.group_by("origin", maintain_order=True)}


def _rows(document: Document) -> pl.DataFrame:
    """Return all rows with the columns of `parse`, `flag` (NULL where nothing is in doubt) and `origin`."""
    flags = pl.col("flags").fill_null("").str.split(";").list.eval(pl.element().str.strip_chars())
    table = _read(document).with_columns(flags=flags)
    rows = table.select(
        service_provider_name=_text("provider")
        .str.to_lowercase()
        .str.replace_all(_NOISE, "")
        .replace_strict(PROVIDERS, default=_text("provider")),
        instance_type=_name("instance_type"),
        accelerator_label=pl.when(_name("instance_type").is_null()).then(pl.coalesce(_name("gpu_raw"), _name("gpu"))),
        accelerator_count=pl.when(_name("instance_type").is_null()).then(_text("gpu_count")),
        capacity_unit=pl.lit("instance"),
        region_id=_text("region"),
        purchase_option=_text("pricing").str.to_lowercase().str.replace_all("-", "_"),
        commitment_term_hours=_text("term")
        .str.to_lowercase()
        .replace_strict(TERMS, default=None, return_dtype=pl.Int64),
        purchase_payment_model=_text("payment"),
        tier=_text("tier_raw"),
        statistic=pl.when(_has(*MEDIANS))
        .then(pl.lit("median"))
        .when(_has(*FLOORS))
        .then(pl.lit("floor"))
        .otherwise(pl.lit("price")),
        pricing_currency=pl.when(_text("currency").fill_null("USD") == "USD")
        .then(pl.lit("USD"))
        .otherwise(pl.format("{} next to usd_per_hour", _text("currency"))),
        unit_price_type=pl.lit("List"),
        unit_price=_text("usd_per_hour"),
        observed_at_utc=_text("observed_at_utc"),
        observed_at=_moment(),
        flag=pl.col("flags").list.eval(pl.element().filter(_begins(pl.element()))).list.first(),
        origin=_text("source").str.split("@").list.first().fill_null(PurePath(document.scope).stem),
    )
    missing = [name for name in OBSERVATION if name not in rows.columns]
    rows = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)
    return rows.select(*OBSERVATION, "observed_at", "observed_at_utc", "flag", "origin")


def _has(*names: str) -> pl.Expr:
    """Return whether a row has one of some flags."""
    return pl.col("flags").list.eval(pl.element().is_in(names)).list.any()


def _begins(flag: pl.Expr) -> pl.Expr:
    """Return whether a flag begins as one of `DOUBTFUL` does, also one that was cut short with its file."""
    return pl.any_horizontal(
        flag.str.starts_with(beginning) | ((flag != "") & pl.lit(beginning).str.starts_with(flag))
        for beginning in DOUBTFUL
    )


def _read(document: Document) -> pl.DataFrame:
    if len(document.body.partition(b"\n")[0]) > MAX_HEADER_BYTES:
        raise _wrong(document, "the header is no line of names", "header", document.body[:80], COLUMNS_HINT)
    _check_cells(document)
    try:
        table = pl.read_csv(document.body, infer_schema=False, encoding="utf8", truncate_ragged_lines=False)
    except pl.exceptions.PolarsError as error:
        raise _wrong(document, NOT_CSV, "file", str(error).splitlines()[0], CSV_HINT) from error
    table = table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines, of which a file can have a million
    known = {*REQUIRED, *OPTIONAL}
    twice = [name.removesuffix(TWICE) for name in table.columns if name.endswith(TWICE)]
    if known.intersection(twice):
        raise _wrong(document, "duplicate columns", "header", ", ".join(twice), "Leave one of them out")
    misspelt = [name for name in table.columns if name not in known and name.strip().lower() in known]
    if misspelt:
        # Passed over, a column called Currency would make dollars of euros.
        hint = "Write the names in small letters, without blanks"
        raise _wrong(document, "a column is spelt otherwise", "header", ", ".join(misspelt), hint)
    chip = ("gpu", "gpu_count") if "instance_type" not in table.columns else ()
    missing = [name for name in (*REQUIRED, *chip) if name not in table.columns]
    if missing:
        message = f"the header lacks {', '.join(missing)}"
        raise _wrong(document, message, "header", ",".join(table.columns), COLUMNS_HINT)
    absent = [name for name in OPTIONAL if name not in table.columns]
    return table.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)


def _check_cells(document: Document) -> None:
    """Raise where a line has not as many cells as the header, or a misplaced quote.

    The CSV reader of polars pads a short line with nulls, so that a price would lose the flag that doubts it.
    """
    if b'"' in document.body:
        reader = csv.reader(io.StringIO(document.body.decode("utf-8-sig", "replace"), newline=""), strict=True)
        try:
            counts = {len(cells) for cells in reader if cells}
        except csv.Error as error:
            raise _wrong(document, NOT_CSV, "file", str(error), CSV_HINT) from error
    else:
        counts = {line.count(b",") for line in document.body.split(b"\n") if line.strip()}
    if len(counts) > 1:
        raise _wrong(document, NOT_CSV, "file", "lines with more or fewer cells than the header", CSV_HINT)


def _wrong(document: Document, message: str, field: str, value: object, hint: str) -> LayoutChanged:
    return LayoutChanged(message, source=document.scope, field=field, value=value, hint=hint)


def _text(name: str) -> pl.Expr:
    """Return a column's text without blanks around it; NULL where it is empty."""
    stripped = pl.col(name).str.strip_chars()
    return pl.when(stripped != "").then(stripped)


def _name(column: str) -> pl.Expr:
    """Return a column's names; NULL where a cell is empty or has one of `NOTHING`: no machine is called so."""
    return pl.when(~_text(column).str.to_lowercase().is_in(NOTHING)).then(_text(column))


def _moment() -> pl.Expr:
    """Return the time of observation as naive UTC; a text without a zone is UTC, as the column's name says."""
    text = _text("observed_at_utc").str.replace("Z$", "+00:00").str.replace(" ", "T")
    zoned = pl.when(text.str.contains(r"[+-]\d\d:?\d\d$")).then(text).otherwise(text + "+00:00")
    full = (
        pl.when(zoned.str.contains(r"^\d{4}-\d\d-\d\d[+-]"))
        .then(zoned.str.slice(0, 10) + "T00:00:00" + zoned.str.slice(10))
        .otherwise(zoned)
    )
    moment = full.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", strict=False, time_unit="us").dt.replace_time_zone(None)
    return pl.when(moment.dt.year().is_between(1, 9999)).then(moment)  # a zone may lead out of the calendar
