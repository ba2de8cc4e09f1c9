"""Looks of made-up clouds, published with the truth checks, and what these say."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from few_marts import formulas_of
from log_rows import add_documents
from looks import ParsedFetch, Row, day, look, row
from published import records
from purchase import SOURCES

from transform.models import MARTS, Mart
from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file

NEEDED = {
    "price_history", "price_move", "repricing", "price_correction", "price_change", "document_evidence",
    "accelerator_hour_price", "sku_price",
}  # fmt: skip


class NoRate(Mart):
    """No rate of tokens: to make those of the catalogue takes longer than all checks, and has tests of its own."""

    @property
    def sql(self) -> str:
        """Return a SELECT of no row."""
        texts = "model_name, task, scenario, benchmark, precision, decoding, topology, interactivity_statistic, reach"
        numbers = "input_length, output_length, interactivity, output_rate_per_paid_accelerator"
        names = [f"null::VARCHAR as {name}" for name in (*texts.split(", "), "accelerator_name")]
        names += [f"null::DOUBLE as {name}" for name in numbers.split(", ")]
        return f"select {', '.join(names)}, null::DATE as measured_on, false as is_ranked limit 0"


BASE = (*(mart for mart in MARTS if mart.name in NEEDED), NoRate("token_rate", "No rate", is_table=True))
TRUTH = tuple(mart for mart in MARTS if mart.name.startswith("truth_"))
CLOUDS = [
    ("cloud", "Cloud", "A cloud's page", "live", 201, 72, "https://x.test"),
    ("cloud_api", "Cloud", "A cloud's answers", "live", 202, 72, "https://x.test"),
    ("reseller", "Reseller", "A reseller", "live", 203, 72, "https://x.test"),
    ("market", "Market", "A market", "live", 204, 24, "https://x.test"),
    ("ecb_rates", "ECB", "Rates", "live", 95, 240, "https://x.test"),
]
SXM = "NVIDIA H100 SXM5 80GB"
NOW = 40.0

Outcome = dict[str, object]


def cloud(machine: str | None, price: str, count: int = 8, **others: object) -> Row:
    """Return one machine of a cloud with so many H100."""
    return row(
        machine, price, accelerator_count=str(count),
        **({"service_provider_name": "Cloud", "accelerator_label": SXM, "region_id": "north"} | others),
    )  # fmt: skip


def reserved(price: str, term: int = 8760, payment: str = "No Upfront", upfront: str = "0", **others: object) -> Row:
    """Return a Reserved price of p5.48xlarge."""
    return row(
        "p5.48xlarge", price, purchase_option="reserved", commitment_term_hours=term, purchase_payment_model=payment,
        **({"offering_class": "standard", "upfront_price": upfront} | others),
    )  # fmt: skip


def plan(price: str, **others: object) -> Row:
    """Return the EC2 Instance Savings Plan of p5.48xlarge, or another plan."""
    usual = {"commitment_discount_type": "EC2Instance", "commitment_term_hours": 8760}
    usual["purchase_payment_model"] = "No Upfront"
    return row("p5.48xlarge", price, purchase_option="savings_plan", **(usual | others))


def at(moment: float, *rows: Row, source: str = "cloud", scope: str = "all", **others: object) -> ParsedFetch:
    """Return a trusted complete look."""
    return look(moment, *rows, source=source, scope=scope, trusted=True, **others)


def published(folder: Path, looks: Sequence[ParsedFetch], *, spoil: str = "", urls: Sequence[str] = ()) -> Path:
    """Publish looks with the truth checks; `spoil` is SQL that harms the log before it is published."""
    marts: tuple[Mart, ...] = (*BASE, *TRUTH)
    with db.writer(folder) as con:
        add_documents(con, *looks, urls=urls or ["https://x.test/"] * len(looks))
        load(con, looks, recorded_at=max((each.observed_at for each in looks), default=day(NOW)))
        if spoil:
            con.execute(spoil)
        return published_file.publish(
            con, folder, marts=marts, formulas=formulas_of(marts), sources=[*SOURCES, *CLOUDS], built_at=day(NOW + 0.1),
            version="test",
        )  # fmt: skip


def outcomes(file: Path, check: str) -> list[Outcome]:
    """Return what a check found, a row a subject."""
    return records(file, f"from int.truth_check where check_name = '{check}' order by subject")


def of(con_rows: list[Outcome]) -> str:
    """Return the worst result of several subjects."""
    results = {str(each["result"]) for each in con_rows}
    return next(result for result in ("differs", "holds", "not_checked") if result in results)


def days_of(*rows: Row, days: Sequence[float] = (37, 38, 39, 40), **others: object) -> list[ParsedFetch]:
    """Return the same look on several days."""
    return [at(each, *rows, **others) for each in days]


RATE = {"pricing_currency": "USD", "rate_date": day(NOW - 2).date(), "units_per_eur": Decimal("1.25")}
TWELVE = [cloud(f"m{n}", str(20 + n)) for n in range(12)]
MONTH_HOURS = 730
