"""Past prices from a CSV of observations: what somebody else saw, when, and where they say it.

docs/importing.md has the columns; others are named and not read. An empty price means "not offered from here on". Each
origin named in `source` becomes a source of its own, called `import:<origin>`, so that two origins can say different
things of one offer without contradiction.

Quirks:

1. A `source` of the form `repository@commit` differs in every row of one history: the origin is the part before "@".
2. One collector's tiers and raw names of a chip often hold different prices at one time, so both are part of the offer:
   the tier as `tier`, the raw name as `accelerator_label`. A raw name that nobody can read stands in brackets behind
   `gpu`, so that the chip is known and two products of one chip stay apart.
3. The least of several prices is another statistic than a price: a `floor`. It moves when another offer is the least.
4. A machine of an accelerator family that is not known is none without accelerators, which are left out.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import NamedTuple

import polars as pl

from extract.catalogues.skypilot_catalog import CATALOGUES
from extract.neoclouds import SOURCES
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, count
from warehouse.reference import cloud_machines
from warehouse.reference.accelerators import resolve, slice_chips
from warehouse.reference.instance_types import ACCELERATOR_TYPE, read_table
from warehouse.schema.tables import OBSERVATION
from warehouse.schema.vocabulary import HOURS_PER_YEAR

REQUIRED = ("observed_at_utc", "provider", "region", "pricing")
PRICES = ("usd_per_hour", "price_per_hour")
OPTIONAL = (
    *("instance_type", "gpu", "gpu_count", "gpu_raw", "term", "payment", "offering_class", "upfront_usd"),
    *("currency", "availability_zone_id", "source", "tier_raw", "flags"),
)
NOT_CSV, CSV_HINT = "not a CSV of observations", "Check that it is whole and saved as UTF-8 text with commas"
COLUMNS_HINT = "docs/importing.md lists the columns"
_NOISE = r"[^a-z0-9]"
_NAMED = [*((each.name, each.provider) for each in SOURCES), *((n, each.provider) for n, each in CATALOGUES.items())]
_WRITTEN = cloud_machines.PROVIDERS | {name: names[1] for names in _NAMED for name in names}
_ENDS = (" Cloud", " GPU Cloud", " AI", " AI Cloud", " Labs", ".io", ".com", "")
PROVIDERS = {re.sub(_NOISE, "", f"{name}{end}".lower()): to for end in _ENDS for name, to in _WRITTEN.items()}
"""How providers write themselves, by their names in small letters and digits: vast.ai, Vast.ai and Vast AI are one."""
MAX_HEADER_BYTES = 1 << 16
"""Each name is read as a column, and a million of them take hundreds of megabytes."""
TERMS = {"1yr": HOURS_PER_YEAR, "1 year": HOURS_PER_YEAR, "3yr": 3 * HOURS_PER_YEAR, "3 years": 3 * HOURS_PER_YEAR}
MONEY_OR_TERMS = re.compile(
    r"price|cost|usd|eur|gbp|cny|dollar|currency|fee|upfront|charge|amount|rate|discount|"
    r"term|lease|contract|commit|payment|class|hour|month|year|tenancy|zone"
)
"""What the name of a column has, in small letters, that may change what a price means."""

HARMLESS = re.compile(
    # what the number is of several prices
    r"median_of_offers|median_from_report|cheapest_listed|cheapest_live_offer"
    # where it was read: a kind of place, or a name of one or two words
    r"|(?:api|page|list|listed|catalog|published)_price|aggregator|(?:via|aggregator)_[a-z0-9.-]+(?:_[a-z0-9.-]+)?"
    # of what the time is
    r"|(?:git_)?commit_date|published_date"
    # stock, which is no part of a price
    r"|no_capacity|sold_out|out_of_stock|low_stock|in_stock"
    # what the collector repaired or merged in its own words for the row, which the row then has
    r"|(?:unit|label|region)_fixed_\w+|form_factors_merged",
    re.ASCII | re.IGNORECASE,
)
"""Flags that take nothing from a price, by what their words mean, whoever writes them."""
DOUBT = re.compile(
    r"(?:^|[_.-])(?:suspect|placeholder|unknown|mixed|blend|stale|carried|old|fx|convert|exchange|estimat|guess|assum|"
    r"imput|interpol|infer|approx|doubt|wrong|error|may|unverified|unsure|invalid|test|fake|default|fallback)",
    re.IGNORECASE,
)
"""Beginnings of words that doubt a row wherever they stand in a flag: `via_fx_feed` is not harmless."""
WITHDRAWN = (
    # the collector says that it is, or may be, the price of something else
    *("suspect_", "placeholder_", "unit_unknown", "unit_mixed"),
    # of several tiers, or perhaps of another purchase option: options are never mixed
    *("blended_tier", "min_over_sizes_may_include_spot"),
    # nobody looked: the last price, written down once more
    "stale_carried_forward",
    # the provider asks euros: the dollars are the collector's, and move with a rate that the row does not state
    "fx_converted_",
)
"""Beginnings of the flags by which collectors withdraw a row: it is refused for good, and nobody has to decide."""
MEDIANS = ("median_of_offers", "median_from_report")
FLOORS = ("cheapest_listed", "cheapest_live_offer")
"""Flags of the middle and of the least of several prices."""

NOTHING = ("nan", "null", "none", "n/a", "<na>")
"""What programs write into a cell that has nothing, in small letters."""
AWS_TYPE = re.compile(r"(?:ml\.)?[a-z][a-z0-9-]*\.(?:nano|micro|small|medium|large|\d*xlarge|metal(?:-\d+xl)?)")
"""How AWS names machines of every kind."""
AWS_ZONE = re.compile(r"-(?:[a-z]{3}-\d+|wl\d+(?:-[a-z]{3}\d+)?)$")
"""What AWS's price list puts behind the region of a Local or a Wavelength Zone: us-west-2-lax-1, us-east-1-wl1-bos1."""
TPU_SLICE = re.compile(r"(?:tpu[ -])?(v5litepod|v5e|v5p|v6e)-(\d{1,4})")
"""The name of a slice of TPUs: v6e-8."""
TIME = r"(?i)^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?: ?(?:Z|UTC)|([+-]\d\d)(?::?(\d\d))?)?)?$"
"""A time as ISO 8601 has it, and as databases print it: 2026-10-02 03:30:00+00. No other zone has a name here."""
MAX_NAMED = 10
"""Values that a note names of each kind; the others are counted."""


class Observed(NamedTuple):
    """What a CSV says, by origin, and notes on it for whoever imports it.

    `prices` have the columns `warehouse.schema.tables.OBSERVATION`, `observed_at` (naive UTC; NULL where the text is no
    time) and `observed_at_utc` (the text). `set_aside` are rows that are no prices as they are: they have these
    columns, `reason`, `field`, `value`, and `is_withdrawn`: by their collector, so that nobody has to decide.
    """

    prices: dict[str, pl.DataFrame]
    set_aside: dict[str, pl.DataFrame]
    notes: tuple[str, ...]


class Machine(NamedTuple):
    """What the cells of a row say of its machine: label and count of its chips, where its type does not say them.

    `is_plain` ones have no accelerator. `has_chip`: chip and count are known. `words` name the machine or the chip.
    """

    words: str | None
    accelerator_label: str | None = None
    accelerator_count: str | None = None
    is_plain: bool = False
    has_chip: bool = False
    machine_reason: str | None = None
    fabric: str | None = None


class Flags(NamedTuple):
    """What the flags of a row say: what its number is, the first flag that sets the row aside, and why."""

    statistic: str
    flag: str | None = None
    flag_reason: str | None = None
    is_withdrawn: bool = False


def provider_named(text: str) -> str:
    """Return how a provider writes itself; the text as it is where nobody here is called so."""
    return PROVIDERS.get(re.sub(_NOISE, "", text.lower()), text)


def parse(document: Document) -> Observed:
    """Return what a CSV of observations says. Raises LayoutChanged where the file is no such CSV."""
    table, unread = read(document)
    rows = _rows(table, document)
    plain, others = rows.filter("is_plain"), rows.filter(~pl.col("is_plain"))
    prices, aside = others.filter(pl.col("reason").is_null()), others.filter(pl.col("reason").is_not_null())
    notes = [*_not_read(unread), *_counted("row", "left out, of machines without accelerators", plain, "instance_type")]
    chipless = prices.filter(~pl.col("has_chip") & pl.col("unit_price").is_not_null())
    notes += _counted("price", "without a known chip and number of chips", chipless, "words")
    own = ("is_plain", "has_chip", "words")
    return Observed(
        prices=_by_origin(prices.drop("reason", "field", "value", "is_withdrawn", *own)),
        set_aside=_by_origin(aside.drop(own)),
        notes=tuple(f"{document.scope}: {note}" for note in notes),
    )


def _by_origin(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(origin): group.drop("origin") for (origin,), group in rows.group_by("origin", maintain_order=True)}


def _counted(one: str, what: str, rows: pl.DataFrame, column: str) -> list[str]:
    """Return a line with how many rows there are, and of which values, most frequent first; no line of no rows."""
    if rows.is_empty():
        return []
    counts = sorted(rows[column].value_counts().iter_rows(), key=lambda each: (-each[1], str(each[0])))
    named = [f"{value or 'empty'} {n:,}" for value, n in counts[:MAX_NAMED]]
    more = [f"{len(counts) - MAX_NAMED:,} more"] if len(counts) > MAX_NAMED else []
    return [f"{count(len(rows), one)} {what}: {', '.join((*named, *more))}"]


def _not_read(names: list[str]) -> list[str]:
    """Return a line on the columns that are not read, and one on those of them that may change what a price means."""
    money = [name for name in names if MONEY_OR_TERMS.search(name.lower())]
    others = [name for name in names if name not in money]
    lines = {"columns not read that may be money or terms": money, "other columns not read": others}
    return [f"{what}: {', '.join(found)}" for what, found in lines.items() if found]


def _rows(table: pl.DataFrame, document: Document) -> pl.DataFrame:
    """Return all rows with the columns of `Observed`, `origin`, and `is_plain`, `has_chip` and `words` of `Machine`."""
    provider = (
        _name("provider")
        .str.to_lowercase()
        .str.replace_all(_NOISE, "")
        .replace_strict(PROVIDERS, default=_name("provider"))
    )
    table = table.with_columns(service_provider_name=provider)
    table = _with(table, ("service_provider_name", "instance_type", "gpu_raw", "gpu", "gpu_count"), _machine, Machine)
    table = _with(table, ("flags",), _flags, Flags)
    currency, dollars, own = _text("currency").str.to_uppercase(), _text("usd_per_hour"), _text("price_per_hour")
    # Only AWS's regions are known: those of botocore, and the zones that are named after them.
    is_elsewhere = ~_name("region").str.replace(AWS_ZONE.pattern, "").is_in(sorted(_aws_regions()))
    is_aws, zone = pl.col("service_provider_name") == "AWS", _name("availability_zone_id")
    is_named = zone.str.starts_with(_text("region"))  # us-east-1a is another zone in each account
    in_china = currency.is_null() & _text("region").str.starts_with("cn-").fill_null(value=False)
    upfront = _text("upfront_usd")
    has_both, is_mixed = dollars.is_not_null() & own.is_not_null(), upfront.is_not_null() & (currency != "USD")
    term = _text("term").str.to_lowercase().replace_strict(TERMS, default=None, return_dtype=pl.Int64)
    has_nul = pl.any_horizontal(pl.col(pl.String).str.contains("\0", literal=True))
    # The first of these that is not NULL is why a row is no price as it is.
    doubts = (
        ("provider", _text("provider"), _when(has_nul, "a cell has a NUL")),
        ("flags", pl.col("flag"), pl.col("flag_reason")),
        ("instance_type", pl.col("words"), pl.col("machine_reason")),
        ("region", _text("region"), _when(is_aws & is_elsewhere, "not a region of AWS that is known")),
        ("availability_zone_id", zone, _when(is_aws & is_named, "a zone's name: give its id, such as use1-az2")),
        ("currency", _text("region"), _when(in_china, "in China, and the row states no currency")),
        ("price_per_hour", own, _when(has_both, "usd_per_hour and price_per_hour are both filled in")),
        ("term", _text("term"), _when(_text("term").is_not_null() & term.is_null(), "a term other than 1yr and 3yr")),
        ("upfront_usd", upfront, _when(is_mixed, "an upfront fee in dollars with a price in another currency")),
    )
    rows = table.select(
        *("service_provider_name", "accelerator_label", "accelerator_count", "statistic", "fabric"),
        instance_type=_name("instance_type"),
        capacity_unit=pl.lit("instance"),
        region_id=_name("region"),
        availability_zone_id=zone,
        purchase_option=_text("pricing").str.to_lowercase().str.replace_all("-", "_"),
        commitment_term_hours=term,
        purchase_payment_model=_text("payment"),
        offering_class=_text("offering_class").str.to_lowercase(),
        tier=_name("tier_raw"),
        pricing_currency=pl.when(dollars.is_not_null() & (currency != "USD"))
        .then(pl.format("{} next to usd_per_hour", currency))
        .when(~in_china & own.is_null())
        .then(currency.fill_null("USD"))
        .otherwise(currency),
        unit_price_type=pl.lit("List"),
        unit_price=pl.coalesce(dollars, own),
        upfront_price=upfront,
        observed_at_utc=_text("observed_at_utc"),
        observed_at=_moment(),
        reason=pl.coalesce(reason for _, _, reason in doubts),
        field=pl.coalesce(pl.when(reason.is_not_null()).then(pl.lit(field)) for field, _, reason in doubts),
        value=pl.coalesce(pl.when(reason.is_not_null()).then(value.fill_null("")) for _, value, reason in doubts),
        is_withdrawn="is_withdrawn",
        is_plain="is_plain",
        has_chip="has_chip",
        words="words",
        origin=_text("source").str.split("@").list.first().fill_null(PurePath(document.scope).stem),
    )
    rows = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in OBSERVATION if name not in rows.columns)
    return rows.select(*OBSERVATION, pl.exclude(*OBSERVATION))


def _when(holds: pl.Expr, reason: str) -> pl.Expr:
    return pl.when(holds).then(pl.lit(reason))


def _with(
    table: pl.DataFrame, key: tuple[str, ...], read: Callable[..., NamedTuple], kind: type[NamedTuple]
) -> pl.DataFrame:
    """Return a table with what a function reads in some of its columns; the same cells are read once."""
    schema = {name: pl.Boolean if name.startswith(("is_", "has_")) else pl.String for name in kind._fields}
    cells = table.select(key).unique(maintain_order=True)
    found = pl.DataFrame([read(*row) for row in cells.iter_rows()], schema=schema, orient="row")
    return table.join(cells.hstack(found), on=key, how="left", nulls_equal=True, maintain_order="left")


def _machine(
    provider: str | None, instance_type: str | None, raw: str | None, gpu: str | None, n: str | None
) -> Machine:
    """Return what a row says of its machine: types of the big clouds have their chips in our tables, others in the
    row's words."""
    name, raw, gpu, count = (_cell(each) for each in (instance_type, raw, gpu, n))
    if provider == "AWS" and name and name.removeprefix("ml.") not in _aws_types():
        if AWS_TYPE.fullmatch(name) and not ACCELERATOR_TYPE.match(name):
            return Machine(name, is_plain=True)
        return Machine(name, machine_reason="not an instance type of AWS that is known")
    if own := _own_chips(provider, name, name or gpu or raw):
        if _are_two(gpu or raw, own[0], provider):
            return Machine(name, machine_reason=f"a machine of {own[0]}, and the chip is {gpu or raw}")
        if count is not None and re.sub(r"\.0+$", "", count) != own[1]:
            return Machine(name, machine_reason=f"a machine of {own[1]} chips, and the count is {count}")
        machine = cloud_machines.known(provider, name)
        label, chips = (None, None) if provider == "AWS" else own
        return Machine(name, label, chips, has_chip=True, fabric=machine and machine.fabric)
    label = raw if raw and (not gpu or _is_known(raw, provider) or not _is_known(gpu, provider)) else gpu
    if label == gpu and raw and gpu and raw != gpu:
        label = f"{gpu} [{raw}]"
    words = label or name
    if count is not None and not count.strip("0."):
        if not label:
            return Machine(words, is_plain=True)
        return Machine(words, label, count, machine_reason="a chip is named, and its count is 0")
    if _are_two(gpu, raw, provider):
        return Machine(words, label, count, machine_reason=f"the chip is {gpu}, and in the provider's words {raw}")
    chip = resolve(label or "", provider)
    if chip and chip.accelerator_share != 1 and count and not re.sub(r"\.0+$", "", count).isdecimal():
        return Machine(words, label, count, machine_reason="the name and the count both state a part of a chip")
    return Machine(words, label, count, has_chip=bool(chip and chip.accelerator_share is not None and count))


def _is_known(label: str, provider: str | None) -> bool:
    chip = resolve(label, provider)
    return chip is not None and chip.accelerator_share is not None


def _are_two(one: str | None, other: str | None, provider: str | None) -> bool:
    """Return whether two texts name different chips; an A100 without its memory may be either."""
    chips = [resolve(text or "", provider) for text in (one, other)]
    names = sorted(chip.accelerator_name for chip in chips if chip)
    return len(names) == 2 and names[0] not in (names[1], re.sub(r"-\d+GB$", "", names[1]))


def _own_chips(provider: str | None, name: str | None, words: str | None) -> tuple[str, str] | None:
    """Return chip and count of a machine that our tables have, or of Google's TPUs its words; None of any other."""
    if provider == "AWS":
        return _aws_types().get((name or "").removeprefix("ml."))
    if provider == "Google Cloud" and (found := TPU_SLICE.fullmatch((words or "").lower())):
        return f"TPU {found[1]}", str(*slice_chips(found[1].removeprefix("v"), int(found[2])))
    machine = cloud_machines.known(provider, name)
    return machine and (machine.accelerator_label, str(machine.accelerator_count))


@cache
def _aws_types() -> dict[str, tuple[str, str]]:
    return {fact.instance_type: (fact.accelerator_name, str(fact.accelerator_count)) for fact in read_table()}


@cache
def _aws_regions() -> frozenset[str]:
    partitions = json.loads((files("botocore") / "data" / "partitions.json").read_text(encoding="utf-8"))["partitions"]
    return frozenset(region for partition in partitions for region in partition["regions"])


def _flags(text: str | None) -> Flags:
    """Return what flags say that stand in one cell, separated by semicolons."""
    flags = [flag for each in (text or "").split(";") if (flag := each.strip())]
    statistic = "median" if {*flags} & {*MEDIANS} else "floor" if {*flags} & {*FLOORS} else "price"
    if withdrawn := [flag for flag in flags if flag.startswith(WITHDRAWN)]:
        return Flags(statistic, withdrawn[0], "flagged by their collector", is_withdrawn=True)
    if unknown := [flag for flag in flags if not HARMLESS.fullmatch(flag) or DOUBT.search(flag)]:
        return Flags(statistic, unknown[0], "with a flag that is not known to be harmless")
    return Flags(statistic)


def _cell(text: str | None) -> str | None:
    """Return the text of a cell; None where it has nothing, or what programs write for nothing."""
    text = (text or "").strip()
    return text if text and text.lower() not in NOTHING else None


def read(document: Document) -> tuple[pl.DataFrame, list[str]]:
    """Return a CSV with all columns that are known, and the names of the others. Raises LayoutChanged."""
    header = document.body[: MAX_HEADER_BYTES + 1].partition(b"\n")[0].decode("utf-8-sig", "replace")
    if len(header) > MAX_HEADER_BYTES or "," not in header or {"\0", "\ufffd"} & {*header}:
        raise _wrong(document, NOT_CSV, "header", header[:80], CSV_HINT)
    _check_cells(document)
    try:
        table = pl.read_csv(document.body, infer_schema=False, encoding="utf8", truncate_ragged_lines=False)
    except pl.exceptions.PolarsError as error:
        raise _wrong(document, NOT_CSV, "file", str(error).splitlines()[0], CSV_HINT) from error
    table = table.filter(~pl.all_horizontal(pl.all().is_null()))  # blank lines, of which a file can have a million
    known = (*REQUIRED, *PRICES, *OPTIONAL)
    twice = [name for name in known if f"{name}_duplicated_0" in table.columns]  # as polars calls the second one
    if twice:
        raise _wrong(document, "duplicate columns", "header", ", ".join(twice), "Leave one of them out")
    unread = [name for name in table.columns if name not in known]
    names = [name.strip().lower() for name in table.columns]
    missing = [name for name in REQUIRED if name not in names]
    if "instance_type" not in names and not {"gpu", "gpu_count"} <= {*names}:
        missing.append("instance_type (or gpu and gpu_count)")
    if not {*PRICES} & {*names}:
        missing.append("usd_per_hour (or price_per_hour and currency)")
    if "price_per_hour" in names and "currency" not in names:
        missing.append("currency with price_per_hour")
    if missing:
        message = f"the header lacks {', '.join(missing)}"
        raise _wrong(document, message, "header", ",".join(table.columns), COLUMNS_HINT)
    if misspelt := [name for name in unread if name.strip().lower() in known]:
        # Passed over, a column called Currency would make dollars of euros.
        hint = "Write the names in small letters, without blanks"
        raise _wrong(document, "a column is spelt otherwise", "header", ", ".join(misspelt), hint)
    return table.with_columns(pl.lit(None, pl.String).alias(n) for n in sorted({*known} - {*table.columns})), unread


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
    """Return a column's names; NULL where a cell is empty or has one of `NOTHING`: no machine or place is called so."""
    return pl.when(~_text(column).str.to_lowercase().is_in(NOTHING)).then(_text(column))


def _moment() -> pl.Expr:
    """Return the time of observation as naive UTC; a text without a zone is UTC, as the column's name says."""
    part = _text("observed_at_utc").str.extract_groups(TIME).struct
    absent = ("", "00:00", ":00", "+00", "00")
    date, *clock = (part[number].fill_null(text) for number, text in enumerate(absent))
    full = pl.concat_str(date, pl.lit("T"), *clock)
    moment = full.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", strict=False, time_unit="us").dt.replace_time_zone(None)
    return pl.when(moment.dt.year().is_between(1, 9999)).then(moment)  # a zone may lead out of the calendar
