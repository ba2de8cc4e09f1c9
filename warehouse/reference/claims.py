"""Published claims: the table `data/claim.csv` and CSV files of users, one number of one text a row, errors named.

How a table is filled (docs/auditing-a-claim.md shows one):

1. A row has `value`, or `low` and `high` (one of them where the text bounds one side only), in `unit`. Figures stand as
   they were printed, without thousands separators: their last digit tells how far they were rounded.
2. `metric` says what the number is. One that no checker knows is kept and cannot be verified.
3. `conditions` are the text's own, in short words: what is priced, batch, precision, region, dates of purchase. The
   columns of `CONDITIONS` may state them apart; where both do, the column counts.
4. `as_of` is the text's date: 2026-07-02, 2026-04, 2026, "after 2024-12-03"; "undated" where it has none.
5. `derived_from` names claims (by id, separated by "; ") that a figure was computed from, where the text says so; what
   follows from other figures of the same text is found without.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from importlib import resources
from typing import Protocol

from warehouse.errors import ChipledgerError
from warehouse.reference import claim_text
from warehouse.reference.claim_text import Conditions, Hedge, Subject
from warehouse.reference.fact_csv import Table
from warehouse.schema.columns import PURCHASE_OPTIONS

TABLE = resources.files("warehouse") / "data" / "claim.csv"
HINT = "docs/auditing-a-claim.md shows the columns"
SEPARATOR = "; "

NEEDED = ("claim_id", "subject", "metric", "unit")
FIGURES = ("value", "low", "high")
TOLD = ("article", "title", "place", "hedge", "conditions", "as_of", "derived_from", "source_url")
CONDITIONS = (
    "purchase_option",
    "commitment_term_hours",
    "region_id",
    "batch_size",
    "precision",
    "model_name",
    "tokens",
)
ARTICLE_NAMES = ("article", "seed_file")
"""Columns that may name the text that a claim stands in."""
MOST_COLUMNS = 1000
KNOWN = frozenset((*NEEDED, *FIGURES, *TOLD, *CONDITIONS, *ARTICLE_NAMES))
"""Every column that is read."""

UNITS: Mapping[str, tuple[str, float]] = {
    "USD": ("money", 1),
    "USD/h": ("price", 1),
    "USD/hour": ("price", 1),
    "USD/month": ("monthly price", 1),
    "USD per 1M tokens": ("cost", 1),
    "USD/M": ("cost", 1),
    "USD per 1K tokens": ("cost", 1000),
    "TFLOPS": ("speed", 1),
    "TFLOP/s": ("speed", 1),
    "PFLOPS": ("speed", 1000),
    "PFLOP/s": ("speed", 1000),
    "GB": ("memory", 1),
    "GiB": ("memory", 1),
    "TB": ("memory", 1000),
    "GB/s": ("bandwidth", 0.001),
    "TB/s": ("bandwidth", 1),
    "W": ("power", 1),
    "kW": ("power", 1000),
    "percent": ("percent", 1),
    "%": ("percent", 1),
    "x": ("ratio", 1),
    "tokens/s": ("rate", 1),
    "tokens/s/chip": ("rate", 1),
    "tokens/s/NeuronCore": ("rate", 1),
    "tokens/s/core": ("rate", 1),
    "tokens/s/GPU": ("rate", 1),
    "tok/s": ("rate", 1),
    "tokens": ("tokens", 1),
    "days": ("days", 1),
}
"""Units that figures are computed in: what they measure, and what one is of the first unit of that kind."""

DIMENSIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"price_usd_per_hour_instance|price_per_(?:chip|core)", ("price",)),
    (r"price_usd_per_month", ("monthly price",)),
    (r"cpm", ("cost",)),
    (r"cost_to_train|migration_cost|savings_usd", ("money",)),
    (r"spec_(?:bf16|fp16|fp8|fp4|int8)(?:_sparse)?_[tp]flops", ("speed",)),
    (r"spec_memory_gb|spec_accelerator_memory_gb|spec_weights_gb", ("memory",)),
    (r"spec_memory_bandwidth_tb_s|spec_nvlink_(?:gb|tb)_s", ("bandwidth",)),
    (r"spec_tdp_w", ("power",)),
    (r"throughput_tokens_per_s_\w+", ("rate",)),
    (r"mfu_range|savings_pct|discount_pct", ("percent",)),
    (r"break_even_tokens", ("tokens",)),
    (r"break_even_days", ("days",)),
)
"""What the figures of a metric measure; another unit is refused, as it would be read wrongly."""

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_METRIC = re.compile(r"[a-z][a-z0-9_]*")
_MONTHS = 12


@dataclass(frozen=True)
class Claim:
    """One claim: where it stands, what it is about, its figure as printed, and what its words state."""

    claim_id: str
    article: str
    title: str | None
    place: str | None
    subject_text: str
    metric: str
    value: str | None
    low: str | None
    high: str | None
    unit: str
    hedge_text: str | None
    conditions_text: str
    as_of: str
    said_from: date | None
    """First day on which it may have been said, None where that is open."""
    said_until: date | None
    derived_from: tuple[str, ...]
    source_url: str | None
    subject: Subject
    conditions: Conditions
    hedge: Hedge

    @property
    def figure(self) -> str:
        """Return the figure as it was told: the value, or the range."""
        if self.value is not None:
            return self.value
        return f"{self.low or ''}-{self.high or ''}".rstrip("-") if self.low else f"to {self.high}"

    @property
    def model_name(self) -> str | None:
        """Return the model that it is about, None where it names none that is known here."""
        return self.subject.model_name

    @property
    def words(self) -> str:
        """Return all words of the claim in which a condition may stand."""
        return f"{self.subject_text}; {self.conditions_text}"


def core_row(claim: Claim) -> tuple[object, ...]:
    """Return the row of core.claim, in the order of `warehouse.schema.tables`."""
    said = claim.conditions
    return (
        claim.claim_id,
        claim.article or None,
        claim.title,
        claim.place,
        claim.subject_text,
        claim.metric,
        claim.figure,
        claim.unit,
        claim.hedge_text,
        claim.conditions_text or None,
        claim.as_of or None,
        claim.said_from,
        claim.said_until,
        said.purchase_option,
        said.term_hours,
        SEPARATOR.join(said.regions) or None,
        said.batch_size,
        said.precision,
        claim.model_name,
        said.tokens,
        SEPARATOR.join(claim.derived_from) or None,
        claim.source_url,
    )


def read_table(path: Table = TABLE) -> list[Claim]:
    """Return the claims of a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _refusal(path.name, 1, "file", path.name, f"not to be read as UTF-8: {error}") from error
    found: dict[str, Claim] = {}
    for line, cells in _lines(path.name, text):
        claim = _claim(path.name, line, cells)
        if claim.claim_id in found:
            raise _refusal(path.name, line, "claim_id", claim.claim_id, "a second claim of this id")
        found[claim.claim_id] = claim
    if not found:
        raise _refusal(path.name, 1, "claim_id", "", "the table is empty")
    for claim in found.values():
        for other in claim.derived_from:
            if other not in found or other == claim.claim_id:
                raise _refusal(
                    path.name, 0, "derived_from", other, f"{claim.claim_id} rests on no other claim of this id"
                )
    return list(found.values())


def _lines(name: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        header = list(reader.fieldnames or ())
        if len(header) > MOST_COLUMNS:
            raise _refusal(name, 1, "header", str(len(header)), f"more than {MOST_COLUMNS} columns")
        absent = [column for column in (*NEEDED, *FIGURES[:1]) if column not in header]
        if absent:
            raise _refusal(name, 1, "header", ", ".join(absent), "columns are absent")
        misspelt = [column for column in header if column not in KNOWN and column.strip().lower() in KNOWN]
        if misspelt:
            # Passed over, a column called High would make one figure of a range.
            raise _refusal(name, 1, "header", ", ".join(misspelt), "columns are spelt otherwise")
        twice = sorted({column for column in header if header.count(column) > 1})
        if twice:
            raise _refusal(name, 1, "header", ", ".join(twice), "columns stand twice")
        for cells in reader:
            if None in cells or None in cells.values():
                raise _refusal(
                    name, reader.line_num, "claim_id", str(cells.get("claim_id")), "more or fewer cells than columns"
                )
            yield reader.line_num, {column: cell.strip() for column, cell in cells.items()}
    except csv.Error as error:
        raise _refusal(name, reader.line_num, "line", "", f"not CSV: {error}") from error


def _claim(name: str, line: int, cells: Mapping[str, str]) -> Claim:
    def refuse(field: str, reason: str) -> ChipledgerError:
        return _refusal(name, line, field, cells.get(field, ""), reason)

    for field in NEEDED:
        if not cells[field]:
            raise refuse(field, "empty")
    if not _METRIC.fullmatch(cells["metric"]):
        raise refuse("metric", "not a name of lower-case letters, digits and underscores")
    figures = {field: cells.get(field) or None for field in FIGURES}
    if all(figure is None for figure in figures.values()):
        raise refuse("value", "neither a value nor a range")
    if figures["value"] is not None and (figures["low"] or figures["high"]):
        raise refuse("value", "a value beside a range")
    dimensions = _dimensions(cells["metric"])
    for field, figure in figures.items():
        if figure is not None and (dimensions or field != "value") and not _NUMBER.fullmatch(figure):
            raise refuse(field, "not a number")
    if figures["low"] and figures["high"] and float(figures["low"]) > float(figures["high"]):
        raise refuse("low", f"above high, {figures['high']}")
    if dimensions and UNITS.get(cells["unit"], ("",))[0] not in dimensions:
        allowed = ", ".join(unit for unit, (kind, _) in UNITS.items() if kind in dimensions)
        raise refuse("unit", f"not a unit of {cells['metric']}, which is in {allowed}")
    as_of = cells.get("as_of", "")
    window = _window(as_of)
    if window is None:
        raise refuse("as_of", "not a date such as 2026-07-02, 2026-04, 2026 or 'after 2024-12-03', nor 'undated'")
    subject = claim_text.subject(cells["subject"])
    words = cells.get("conditions", "")
    hedge_text = cells.get("hedge") or None
    conditions = _stated(cells, claim_text.conditions(f"{cells['subject']}; {words}"), refuse)
    if cells.get("model_name"):
        named = claim_text.model(cells["model_name"])
        if named is None:
            raise refuse("model_name", "no model of core.model")
        subject = replace(subject, model_name=named)
    return Claim(
        claim_id=cells["claim_id"],
        article=next((cells[column] for column in ARTICLE_NAMES if cells.get(column)), ""),
        title=cells.get("title") or None,
        place=cells.get("place") or None,
        subject_text=cells["subject"],
        metric=cells["metric"],
        value=figures["value"],
        low=figures["low"],
        high=figures["high"],
        unit=cells["unit"],
        hedge_text=hedge_text,
        conditions_text=words,
        as_of=as_of,
        said_from=window[0],
        said_until=window[1],
        derived_from=tuple(filter(None, (one.strip() for one in cells.get("derived_from", "").split(";")))),
        source_url=cells.get("source_url") or None,
        subject=subject,
        conditions=conditions,
        hedge=claim_text.hedge(hedge_text or words),
    )


def _stated(cells: Mapping[str, str], said: Conditions, refuse: "_Refuse") -> Conditions:
    """Return the conditions with what columns of their own state."""
    option = cells.get("purchase_option")
    if option and option not in PURCHASE_OPTIONS:
        raise refuse("purchase_option", f"not one of {', '.join(PURCHASE_OPTIONS)}")
    numbers: dict[str, float | None] = {}
    for field in ("commitment_term_hours", "batch_size", "tokens"):
        text = cells.get(field)
        if text and not (_NUMBER.fullmatch(text) and float(text) > 0):
            raise refuse(field, "not a number above 0")
        numbers[field] = float(text) if text else None
    term, batch, tokens = numbers.values()
    return replace(
        said,
        purchase_option=option or said.purchase_option,
        term_hours=int(term) if term else said.term_hours,
        regions=tuple(cells["region_id"].split(SEPARATOR)) if cells.get("region_id") else said.regions,
        batch_size=int(batch) if batch else said.batch_size,
        precision=(cells.get("precision") or "").lower() or said.precision,
        tokens=tokens or said.tokens,
    )


class _Refuse(Protocol):
    def __call__(self, field: str, reason: str) -> ChipledgerError: ...


def _dimensions(metric: str) -> Sequence[str]:
    return next((kinds for pattern, kinds in DIMENSIONS if re.fullmatch(pattern, metric)), ())


def _window(text: str) -> tuple[date | None, date | None] | None:
    """Return the first and last day on which a claim may have been made; None where the text is no date."""
    day = re.search(r"\d{4}-\d\d-\d\d", text)
    try:
        if day:
            moment = date.fromisoformat(day[0])
            if re.search(r"\b(?:after|since)\b", text):
                return moment, None
            return (None, moment) if re.search(r"\b(?:before|until)\b", text) else (moment, moment)
        month = re.search(r"\b(\d{4})-(\d\d)\b", text)
        if month:
            year, number = int(month[1]), int(month[2])
            following = date(year + number // _MONTHS, number % _MONTHS + 1, 1)
            return date(year, number, 1), following - timedelta(days=1)
        year_only = re.search(r"\b(?:19|20)\d\d\b", text)
        if year_only:
            return date(int(year_only[0]), 1, 1), date(int(year_only[0]), 12, 31)
    except ValueError:
        return None
    return (None, None) if not text or "undated" in text else None


def _refusal(name: str, line: int, field: str, value: str, reason: str) -> ChipledgerError:
    where = f"line {line}: " if line else ""
    return ChipledgerError(f"{where}{reason}", source=name, field=field, value=value, hint=HINT)


@cache
def shipped() -> tuple[Claim, ...]:
    """Return the claims that the package ships, read once."""
    return tuple(read_table())
