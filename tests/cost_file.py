"""Published files for tests of cost: a few real prices, the shipped measurements, and runs of one's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from looks import Row, row
from published import query, records
from purchase import Put, block, plan, putting, seen, spot, term

from warehouse.log import db
from warehouse.reference import throughput

P5, P5EN, P6, TRN1 = "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "trn1.32xlarge"

LIST = {P5: "55.04", P5EN: "63.296", P6: "113.9328", TRN1: "21.5", "p5.4xlarge": "6.88", "inf2.48xlarge": "12.98127"}
"""AWS's prices of us-east-1, on demand, 2026."""
BLOCKS = {"p5.4xlarge": "5.191", TRN1: "9.532", P5: "41.528"}
"""Published rates of Capacity Blocks there."""


def neocloud(label: str, price: str, count: str | None = None, **others: object) -> Row:
    """Return the price of chips that another provider sells; without a count, of a purchase of unknown size."""
    return row(
        None, price, service_provider_name="Toy", accelerator_label=label, accelerator_count=count or "1",
        capacity_unit="instance" if count else "GPU", **{"region_id": None, **others},
    )  # fmt: skip


def put_prices(put: Put, at: float = 0, *, published_at: float | None = None, **changed: str) -> Path:
    """Publish the prices, on their own day unless another is given, two commitments of a year, and another provider's.

    The latter has MI300X at three prices, and a marketplace with quartile and median, or the median alone.
    """
    prices = LIST | {{"p5en": P5EN, "p5": P5}[name]: price for name, price in changed.items()}
    return put(
        seen(at, "aws_price_list", *(row(name, price) for name, price in prices.items()),
             neocloud("H100 SXM", "2.5"), neocloud("H200 SXM", "24", "8"), neocloud("H100", "2"),
             neocloud("H200 SXM", "8", "8", statistic="floor"), term(P5, "38", "No", "0"),
             *(neocloud("MI300X", price, "8", region_id=f"{price} east") for price in ("16", "20", "32")),
             *(neocloud("H100 SXM", price, tier="market", statistic=kind)
               for price, kind in (("2.25", "p25"), ("2.75", "median"))),
             neocloud("H200 SXM", "4", tier="market", statistic="median")),
        seen(at, "aws_savings_plans", plan(P5, "40")),
        seen(at, "aws_capacity_block_rates", *(block(name, rate, None) for name, rate in BLOCKS.items())),
        seen(at, "aws_spot", spot(P5, "use1-az1", "20")),
        at=at if published_at is None else published_at,
    )  # fmt: skip


def run(**others: Any) -> tuple[object, ...]:
    """Return a row of core.throughput: Llama 3 70B on one H100 SXM, batch 8, in FP8, measured by the user."""
    said = dict.fromkeys(throughput.MEASURED) | {
        "model_name": "llama-3-70b", "task": "serving", "scenario": "own", "benchmark": "vLLM bench serve",
        "benchmark_family": "vllm", "accelerator_name": "H100", "form_factor": "SXM",
        "accelerator_count": Decimal(1), "precision": "fp8", "unit_of_work": "token", "input_length": Decimal(500),
        "output_length": Decimal(250), "concurrency": Decimal(8), "output_rate": Decimal(200),
        "acceptance_length": Decimal(1), "measured_by": "us", "measured_on": date(2026, 1, 1),
        "source_url": "run.json", "evidence_grade": "C", "note": "",
    }  # fmt: skip
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return throughput.core_row(
        said | others, source="benchmark:us", observed_at=now, document_sha256="own", recorded_at=now
    )


@contextmanager
def putting_costs(folder: Path, *runs: tuple[object, ...], asked: tuple[str, ...] = ()) -> Iterator[Put]:
    """Give what publishes looks beside the shipped measurements and runs of one's own; asked: as of `putting`."""
    if runs:
        with db.writer(folder) as con:
            throughput.append(con, runs)
    with putting(folder, all_marts=True, asked=asked) as put:
        yield put


@contextmanager
def cost_file(folder: Path, *runs: tuple[object, ...]) -> Iterator[Path]:
    """Give a published file with the prices, and with runs as `putting_costs` does."""
    with putting_costs(folder, *runs) as put:
        yield put_prices(put)


def lines(file: Path, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query on a published file, by column."""
    return list(records(file, sql))


def values(file: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query on a published file."""
    return list(query(file, sql))
