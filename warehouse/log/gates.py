"""The row gate: what a single observation must be, and why it is refused where it is not.

The batch and history gates, which compare rows with each other and with the log, are in `warehouse.log.load`.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandera.polars as pa
import polars as pl

from warehouse.documents import RefusedRow
from warehouse.schema import tables, vocabulary

if TYPE_CHECKING:
    from warehouse.log.parsed import ParsedFetch
    from warehouse.log.quarantine import Quarantined

AMOUNT = r"^[0-9]{1,8}(\.[0-9]{1,10})?$"
"""ASCII text that fits DECIMAL(18,10) without rounding; more digits are refused, not cut."""

_COUNT = r"^[0-9]{1,6}(\.[0-9]{1,4})?$"


@dataclass(frozen=True, kw_only=True)
class Refusal(RefusedRow):
    """One row that the row gate refused; `row` is its place, `content` the whole of it as JSON."""

    row: int


def _is(name: str) -> pl.Expr:
    return pl.col("purchase_option") == name


def _has(name: str) -> pl.Expr:
    return pl.col(name).is_not_null()


def _zero(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).str.contains(r"^0*(\.0*)?$")


def _known(name: str, what: str, values: tuple[str, ...]) -> tuple[str, str, pl.Expr]:
    return name, f"unknown {what}; known: {', '.join(values)}", pl.col(name).is_in(values)


_AWS_COMMITMENT = (_is("reserved") | _is("savings_plan")) & (pl.col("service_provider_name") == "AWS")
_PAYMENT = pl.col("purchase_payment_model")
_ALL_UPFRONT = (_is("reserved") & (_PAYMENT == "All Upfront")).fill_null(value=False)

EARLIEST = datetime(2006, 1, 1)  # noqa: DTZ001 (as rows have it, in UTC)
"""Amazon EC2 began on 2006-08-25 (https://aws.amazon.com/blogs/aws/amazon_ec2_beta/): a year before is misspelt."""
NO_TIME = "not a time like 2026-06-30T13:18Z"
UNBOUND = "terms of a commitment with a price on demand or spot: leave them empty, or name the purchase option"
RULES: tuple[tuple[str, str, pl.Expr], ...] = (
    ("service_provider_name", "the provider is missing", _has("service_provider_name")),
    (
        "instance_type",
        "neither an instance type nor an accelerator with its count is named",
        _has("instance_type") | (_has("accelerator_label") & _has("accelerator_count")),
    ),
    ("accelerator_count", "not a count of at most four decimals", pl.col("accelerator_count").str.contains(_COUNT)),
    _known("capacity_unit", "capacity unit", vocabulary.CAPACITY_UNITS),
    ("region_id", "the region is missing", _has("region_id") | (pl.col("service_provider_name") != "AWS")),
    ("purchase_option", "the purchase option is missing", _has("purchase_option")),
    _known("purchase_option", "purchase option", vocabulary.PURCHASE_OPTIONS),
    _known("statistic", "statistic", vocabulary.STATISTICS),
    _known("pricing_unit", "pricing unit", vocabulary.PRICING_UNITS),
    _known("restriction", "restriction", vocabulary.RESTRICTIONS),
    _known("unit_price_type", "kind of price", vocabulary.UNIT_PRICE_TYPES),
    ("pricing_currency", "the currency is missing", _has("pricing_currency")),
    _known("pricing_currency", "currency", vocabulary.CURRENCIES),
    ("unit_price", "no amount such as 2.99, to ten decimals", pl.col("unit_price").str.contains(AMOUNT)),
    ("upfront_price", "no amount such as 2.99, to ten decimals", pl.col("upfront_price").str.contains(AMOUNT)),
    ("unit_price", "a price of zero, which no accelerator is sold for", ~_zero("unit_price") | _ALL_UPFRONT),
    ("unit_price", "an hourly price with All Upfront, whose fee is all: write 0", _zero("unit_price") | ~_ALL_UPFRONT),
    ("unit_price", "the recurring price is missing", _has("unit_price") | ~_has("upfront_price")),
    (
        "commitment_term_hours",
        "an AWS commitment lasts one or three years",
        ~_AWS_COMMITMENT | pl.col("commitment_term_hours").is_in([8760, 26280]).fill_null(value=False),
    ),
    *(
        (name, UNBOUND, ~(_is("on_demand") | _is("spot")) | _zero(name))
        for name in ("commitment_term_hours", "purchase_payment_model", "offering_class", "upfront_price")
    ),
    ("purchase_payment_model", "the payment model is missing", _has("purchase_payment_model") | ~_AWS_COMMITMENT),
    _known("purchase_payment_model", "payment model", vocabulary.PAYMENT_MODELS),
    _known("offering_class", "offering class", vocabulary.OFFERING_CLASSES),
    (
        "upfront_price",
        "the upfront fee of a Partial or All Upfront term is missing or zero",
        ~_is("reserved")
        | ~_PAYMENT.is_in(["Partial Upfront", "All Upfront"]).fill_null(value=False)
        | (_has("upfront_price") & ~_zero("upfront_price").fill_null(value=False))
        | (~_has("unit_price") & ~_has("upfront_price")),  # not offered from here on
    ),
    (
        "upfront_price",
        "an upfront fee with a Savings Plan, whose rate holds it: leave it empty",
        ~_is("savings_plan") | _zero("upfront_price"),
    ),
    ("upfront_price", "an upfront fee with No Upfront", (_PAYMENT != "No Upfront") | _zero("upfront_price")),
)
"""Field, reason and rule of the row gate; a rule that gives NULL does not apply to the row."""


def _holds(rule: pl.Expr) -> pl.Expr:
    """Return a rule that gives no NULL: where it gives one, it does not apply."""
    return rule.fill_null(value=True)


SCHEMA = pa.DataFrameSchema(
    columns={name: pa.Column(kind, nullable=True) for name, kind in tables.observation_schema().items()},
    # One check of all rules: twenty of them, one by one, take longer than all else that is done with a small answer.
    checks=[
        pa.Check(lambda data: data.lazyframe.select(pl.all_horizontal(_holds(each[2]) for each in RULES)), name="rules")
    ],
)
FIRST_BROKEN = pl.coalesce(
    pl.when(~_holds(rule)).then(pl.lit(number, pl.Int32)) for number, (_, _, rule) in enumerate(RULES)
)
"""Of each row the first rule that it breaks, by its place in RULES."""


def row_gate(rows: pl.DataFrame, *, latest: datetime | pl.Series | None = None) -> tuple[pl.DataFrame, list[Refusal]]:
    """Return the accepted rows with typed amounts and counts, and one refusal for each row that broke a rule.

    `rows` has the columns `tables.OBSERVATION`, text but for the term, and any others, which are passed through.
    Rows with a time of their own (`observed_at`, its text in `observed_at_utc`) must have one not after
    `latest`, which may be of each row.
    """
    if "observed_at" in rows.columns:
        return _timed_row_gate(rows, latest)
    refusals = []
    try:
        SCHEMA.validate(rows, lazy=True)
    except pa.errors.SchemaErrors as errors:
        for case in errors.failure_cases.iter_rows(named=True):
            if case["index"] is None:
                raise TypeError(f"the frame itself is not of the declared shape: {case}") from errors
        firsts = rows.select(FIRST_BROKEN).to_series()
        for index, number in enumerate(firsts):
            if number is not None:
                field, reason, _ = RULES[number]
                row = rows.row(index, named=True)
                why = Refusal(row=index, reason=reason, field=field, value=str(row[field]), content=row_json(row))
                refusals.append(why)
        rows = rows.filter(firsts.is_null())
    return rows.with_columns(
        pl.col("unit_price", "upfront_price").cast(pl.Decimal(18, 10)),
        pl.col("accelerator_count", "minimum_quantity").cast(pl.Decimal(10, 4)),
        pl.col("commitment_term_hours").cast(pl.Int32),
    ), refusals


def past_gates(
    rows: pl.DataFrame, of: "ParsedFetch | Quarantined", at: datetime, *, number: int = 0, archived: bool = False
) -> pl.DataFrame:
    """Return accepted rows of a fetch as they are staged for the log where no further gate judges them.

    Those without a time of their own are of `at`, naive and UTC.
    """
    observed_at = pl.col("observed_at") if "observed_at" in rows.columns else pl.lit(at)
    return rows.with_columns(
        observed_at.alias("observed_at"),
        source=pl.lit(of.source),
        scope=pl.lit(of.scope),
        is_past_gates=pl.lit(value=True),
        is_archived=pl.lit(archived),
        fetch_number=pl.lit(number, pl.Int64),
        refusal_number=pl.lit(None, pl.Int64),
    )


def _timed_row_gate(rows: pl.DataFrame, latest: datetime | pl.Series | None) -> tuple[pl.DataFrame, list[Refusal]]:
    """Pass rows with times of their own through the row gate, after their times."""
    unread, future = pl.col("observed_at").is_null(), pl.col("observed_at") > pl.lit(latest, pl.Datetime("us"))
    reason_of = pl.when(unread).then(pl.lit(NO_TIME)).when(future).then(pl.lit("a time in the future"))
    early = pl.col("observed_at") < EARLIEST
    reasons = rows.select(reason_of.when(early).then(pl.lit("a time before 2006, when EC2 began"))).to_series()
    refusals = [
        Refusal(
            row=index,
            reason=reason,
            field="observed_at_utc",
            value=str(rows["observed_at_utc"][index]),
            content=row_json(rows.row(index, named=True)),
        )
        for index, reason in enumerate(reasons)
        if reason is not None
    ]
    timely = rows.with_row_index("_place").filter(reasons.is_null())
    times = timely.select("_place", "observed_at", "observed_at_utc")
    accepted_rows, others = row_gate(timely.drop("observed_at"))
    refusals += [replace(refusal, row=int(times["_place"][refusal.row])) for refusal in others]
    accepted = accepted_rows.join(times.select("_place", "observed_at"), on="_place", how="left", maintain_order="left")
    return accepted.drop("_place", "observed_at_utc"), refusals


def row_json(row: dict[str, Any]) -> str:
    """Return a row as JSON, without its empty fields; amounts keep their digits as text."""
    return json.dumps(
        {k: format(v, "f") if isinstance(v, Decimal) else v for k, v in row.items() if v is not None},
        ensure_ascii=False,
        default=str,
    )
