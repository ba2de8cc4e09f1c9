"""Publishing files for tests of the purchase options: looks, facts and marts from a few words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
from few_marts import FEW_MACROS, FEW_MARTS, formulas_of, needed
from log_rows import add_documents
from looks import ParsedFetch, Row, at_once, day, look, row

from transform.models import MACROS, MARTS
from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("aws_spot", "AWS", "Spot by zone", "live", 11, 24, "https://x.test"),
    ("aws_spot_feed", "AWS", "Spot by region", "live", 30, 72, "https://x.test"),
    ("aws_savings_plans", "AWS", "Plans", "live", 20, 72, "https://x.test"),
    ("aws_capacity_blocks", "AWS", "Blocks", "live", 12, 24, "https://x.test"),
    ("aws_capacity_block_rates", "AWS", "Rates of blocks", "live", 31, 72, "https://x.test"),
    ("aws_instance_types", "AWS", "Types", "live", 10, 72, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
]
P5 = "p5.48xlarge"
REGION = "us-east-1"

Put = Callable[..., Path]


@contextmanager
def putting(data_dir: Path, *, all_marts: bool = False, asked: tuple[str, ...] = ()) -> Iterator[Put]:
    """Give a function that loads looks in turn, or with `at_last` all with the last, publishes, and returns the file.

    It has the marts and macros asked for, without comments and data dictionary; where none are asked for, those that
    most tests need, or all, and all that is said of them.
    """
    marts, macros = needed(*asked) if asked else (MARTS, MACROS) if all_marts else (FEW_MARTS, FEW_MACROS)
    with db.writer(data_dir) as con:

        def put(*looks: ParsedFetch, at: float, at_last: bool = False) -> Path:
            for moment, together in [(looks[-1].observed_at, looks)] if at_last else at_once(looks):
                add_documents(con, *together)
                load(con, together, recorded_at=moment)
            return published_file.publish(
                con,
                data_dir,
                marts=marts,
                formulas=formulas_of((*marts, *macros)),
                macros=macros,
                sources=SOURCES,
                built_at=day(at),
                version="test",
            )

        yield put


def seen(at: float, source: str, *rows: Row, **others: object) -> ParsedFetch:
    """Return a trusted complete look at us-east-1."""
    return look(at, *rows, source=source, trusted=True, **({"scope": REGION} | others))


def said(at: float, source: str, table: str, *facts: Row) -> ParsedFetch:
    """Return a look at us-east-1 that gives facts and no price."""
    frame = pl.DataFrame([fact | {"document_sha256": f"{source} {at}"} for fact in facts])
    return replace(seen(at, source, complete=False), facts={table: frame}, document_sha256=f"{source} {at}")


def spot(instance_type: str, zone: str, price: str, **others: object) -> Row:
    """Return the spot price of a type in a zone."""
    return row(instance_type, price, purchase_option="spot", availability_zone_id=zone, **others)


def term(instance_type: str, price: str, payment: str, upfront: str, years: int = 1, **others: object) -> Row:
    """Return a standard Reserved term."""
    return row(
        instance_type, price, purchase_option="reserved", upfront_price=upfront, commitment_term_hours=8760 * years,
        purchase_payment_model=f"{payment} Upfront", **({"offering_class": "standard"} | others),
    )  # fmt: skip


def plan(
    instance_type: str, rate: str, payment: str = "No", years: int = 1, kind: str = "Compute", **others: object
) -> Row:
    """Return the rate of a Savings Plan."""
    return row(
        instance_type, rate, purchase_option="savings_plan", commitment_discount_type=kind,
        commitment_term_hours=8760 * years, purchase_payment_model=f"{payment} Upfront", **others,
    )  # fmt: skip


def block(instance_type: str, rate: str, hours: int | None = 24, count: str | None = "1", **others: object) -> Row:
    """Return the rate of a Capacity Block: of an offer, or the published one where no hours are given."""
    conditions = "offer that starts first" if hours else "published rate"
    return row(
        instance_type, rate, purchase_option="capacity_block", commitment_term_hours=hours,
        minimum_quantity=count if hours else None, conditions=conditions, **others,
    )  # fmt: skip
