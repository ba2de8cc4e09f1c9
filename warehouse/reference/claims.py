"""Published claims: the table `data/claim.csv` and CSV files of users, one number of one text a row.

`data/README.md` says how such a table is filled; docs/auditing-a-claim.md shows one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cache

from warehouse.reference import claim_text
from warehouse.reference.claim_text import Conditions, Hedge, Subject, Thing
from warehouse.reference.table import Broken, Model, Rule, Table, Values

SEPARATOR = "; "

REQUIRED = ("claim_id", "subject", "metric", "unit")
STATED = ("value", "low", "high", "title", "place", "hedge", "conditions", "as_of", "derived_from", "source_url")
CONDITIONS = ("purchase_option", "region_id", "precision", "model_name")
NUMBERS = ("commitment_term_hours", "batch_size", "tokens")
AS_THEY_ARE = ("claim_id", "title", "place", "metric", "value", "low", "high", "unit", "source_url")
ARTICLE_NAMES = ("article", "seed_file")
"""Columns that may name the text that a claim is from."""

_BY_KIND: Mapping[str, Mapping[str, float]] = {
    "money": {"USD": 1},
    "price": dict.fromkeys(("USD/h", "USD/hour", "USD/hr", "$/h", "$/hour", "$/hr"), 1),
    "monthly price": {"USD/month": 1},
    "cost": dict.fromkeys(("USD per 1M tokens", "USD/M", "USD/1M tokens", "$/M", "$/1M tokens"), 1)
    | dict.fromkeys(("USD per 1K tokens", "USD/1K tokens", "$/1K tokens"), 1000),
    "speed": {"TFLOPS": 1, "TFLOP/s": 1, "PFLOPS": 1000, "PFLOP/s": 1000},
    "memory": {"GB": 1, "GiB": 1, "TB": 1000},
    "bandwidth": {"GB/s": 0.001, "TB/s": 1},
    "power": {"W": 1, "kW": 1000},
    "percent": {"percent": 1, "%": 1},
    "ratio": {"x": 1},
    "rate": dict.fromkeys((*(f"tokens/s{of}" for of in ("", "/chip", "/NeuronCore", "/core", "/GPU")), "tok/s"), 1),
    "tokens": {"tokens": 1},
    "days": {"days": 1},
}
UNITS = {unit: (kind, factor) for kind, units in _BY_KIND.items() for unit, factor in units.items()}
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

_METRIC = "^[a-z][a-z0-9_]*$"
NUMBER = r"^[+-]?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?$"
_MONTHS = 12


@dataclass(frozen=True)
class Claim:
    """One claim: where it is published, what it is about, its figure as printed, and its conditions."""

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
    claimed_from: date | None
    """First day on which it may have been published, None where that is open."""
    claimed_until: date | None
    derived_from: tuple[str, ...]
    source_url: str | None
    subject: Subject
    conditions: Conditions
    hedge: Hedge

    @property
    def figure(self) -> str:
        """Return the figure as published: the value, or the range."""
        if self.value is not None:
            return self.value
        return f"{self.low or ''}-{self.high or ''}".rstrip("-") if self.low else f"to {self.high}"

    @property
    def thing(self) -> Thing:
        """Return what it is about, of two that are compared the first."""
        return self.subject.things[0]

    @property
    def model_name(self) -> str | None:
        """Return the model that it is about, None where it names none that is known here."""
        return self.subject.model_name

    @property
    def words(self) -> str:
        """Return all text of the claim that may state a condition."""
        return f"{self.subject_text}; {self.conditions_text}"


def core_row(claim: Claim) -> tuple[object, ...]:
    """Return the row of ref.claim, in the order of its columns."""
    stated = claim.conditions
    return (
        *(claim.claim_id, claim.article or None, claim.title, claim.place, claim.subject_text, claim.metric),
        *(claim.figure, claim.unit, claim.hedge_text, claim.conditions_text or None, claim.as_of or None),
        *(claim.claimed_from, claim.claimed_until, stated.purchase_option, stated.term_hours),
        *(SEPARATOR.join(stated.regions) or None, stated.batch_size, stated.precision, claim.model_name),
        *(stated.tokens, SEPARATOR.join(claim.derived_from) or None, claim.source_url),
    )


def read_table(table: Table | None = None) -> list[Claim]:
    """Return the claims of a table, by default the package's. Raises ChipledgerError where one is not usable."""
    return [_claim(row) for row in MODEL.read(table)]


def _wrong_claims(rows: list[Values]) -> Broken:
    ids = {row["claim_id"] for row in rows}
    for place, row in enumerate(rows):
        if _window(row["as_of"] or "") is None:
            yield place, "as_of", "not a date such as 2026-07-02, 2026-04, 2026 or 'after 2024-12-03', nor 'undated'"
        if row["model_name"] and claim_text.model(row["model_name"]) is None:
            yield place, "model_name", "no model of ref.model"
        if strange := [one for one in _derived_from(row) if one not in ids or one == row["claim_id"]]:
            yield place, "derived_from", f"{strange[0]} is no other claim of this table"


def _rules_of_metric(pattern: str, kinds: tuple[str, ...]) -> tuple[Rule, Rule]:
    other = f"not regexp_like(metric, '^({pattern})$')"
    units = tuple(unit for unit, (kind, _) in UNITS.items() if kind in kinds)
    listed = ", ".join(f"'{unit}'" for unit in units)
    return (
        Rule("value", "not a number", f"{other} or regexp_like(value, '{NUMBER}')"),
        Rule("unit", f"not a unit of {{metric}}, which is in {', '.join(units)}", f"{other} or unit in ({listed})"),
    )


MODEL = Model(
    file="claim.csv",
    key="claim_id",
    fields=dict.fromkeys(REQUIRED, str)
    | dict.fromkeys((*STATED, *ARTICLE_NAMES, *CONDITIONS), str | None)
    | dict.fromkeys(NUMBERS, Decimal | None),
    help="docs/auditing-a-claim.md",
    exact=False,
    required=(*REQUIRED, "value"),
    free=("precision", "source_url"),
    unique=("claim_id",),
    repeated="a second claim of this id",
    rules=(
        Rule("metric", "not of lower-case letters, digits and underscores", f"regexp_like(metric, '{_METRIC}')"),
        Rule("value", "neither a value nor a range", "coalesce(value, low, high) is not null"),
        Rule("value", "a value together with a range", "value is null or coalesce(low, high) is null"),
        *(Rule(name, "not a number", f"regexp_like({name}, '{NUMBER}')") for name in ("low", "high")),
        Rule("low", "above high, {high}", "try_cast(low as double) <= try_cast(high as double)"),
        *(rule for pattern, kinds in DIMENSIONS for rule in _rules_of_metric(pattern, kinds)),
    ),
    rows=_wrong_claims,
)


def _derived_from(row: Values) -> tuple[str, ...]:
    return tuple(filter(None, (one.strip() for one in (row["derived_from"] or "").split(";"))))


def _claim(row: Values) -> Claim:
    first, last = _window(row["as_of"] or "") or (None, None)
    subject = claim_text.subject(row["subject"])
    words = row["conditions"] or ""
    of_figure = claim_text.OTHER_NUMBERS.sub(" ", words) if row["metric"].startswith("price_") else words
    if row["model_name"]:
        subject = replace(subject, model_name=claim_text.model(row["model_name"]))
    # It is of as many chips as the conditions say, where the subject does not, unless their number is what is claimed.
    count = None if row["metric"] == "spec_accelerators" else claim_text.chips_of(words)
    if count and not subject.things[0].count:
        subject = replace(subject, things=(replace(subject.things[0], count=count), *subject.things[1:]))
    return Claim(
        **{name: row[name] for name in AS_THEY_ARE},
        article=next((row[name] for name in ARTICLE_NAMES if row[name]), ""),
        subject_text=row["subject"],
        hedge_text=row["hedge"],
        conditions_text=words,
        as_of=row["as_of"] or "",
        claimed_from=first,
        claimed_until=last,
        derived_from=_derived_from(row),
        subject=subject,
        conditions=_stated(row, claim_text.conditions(f"{row['subject']}; {words}")),
        hedge=claim_text.hedge(row["hedge"] or of_figure),
    )


def _stated(row: Values, stated: Conditions) -> Conditions:
    """Return the conditions with those that columns of their own state."""
    term, batch, tokens = (row[name] for name in NUMBERS)
    return replace(
        stated,
        purchase_option=row["purchase_option"] or stated.purchase_option,
        term_hours=int(term) if term else stated.term_hours,
        regions=tuple(row["region_id"].split(SEPARATOR)) if row["region_id"] else stated.regions,
        batch_size=int(batch) if batch else stated.batch_size,
        precision=(row["precision"] or "").lower() or stated.precision,
        tokens=float(tokens) if tokens else stated.tokens,
    )


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
        year_only = re.fullmatch(r"\D*((?:19|20)\d\d)\D*", text)
        if year_only:
            return date(int(year_only[1]), 1, 1), date(int(year_only[1]), 12, 31)
    except ValueError:
        return None
    return (None, None) if not text or "undated" in text else None


@cache
def shipped() -> tuple[Claim, ...]:
    """Return the claims that the package ships, read once."""
    return tuple(read_table())
