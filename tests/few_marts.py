"""The marts that most tests need: all but those of cost, drift and truth, which take as long to make as all others."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.collect.summary import Summary
from flows.config.settings import Settings
from transform.formula import SCHEMAS, statements
from transform.models import MACROS, MARTS, PUBLIC, Mart, MartMacro, made_of
from warehouse.publish import published_file

LATE = {
    "throughput", "cost_price", "cost_option", "serving_rate", "token_rate", "token_option", "headline_point",
    "model_point", "model_token_cost", "headline_token_cost", "option_price_history", "token_rate_history",
    "token_cost_history",
    "serving_offer", "token_cost", "training_rate", "training_offer",
    "training_cost", "cost_left_out", "index_spell", "index_cut", "price_index_item", "administered_spot",
    "price_level", "price_index",
    "drift_report", "token_drift", "front_cell", "option_saving", "front_chip", "front_bill", "front_move",
    "front_line", "front_provider",
}  # fmt: skip
FEW_MARTS = tuple(mart for mart in MARTS if mart.name not in LATE and not mart.name.startswith("truth_"))
FEW_MACROS = tuple(macro for macro in MACROS if macro.name in {"best_option", "price_on", "cheapest"})

LEAST = {
    "price_history", "accelerator_hour_price", "price_move", "repricing", "price_correction", "price_change",
    "document_evidence",
    "source_health", "unknown_accelerator", "sku_price",
}  # fmt: skip
LEAST_MARTS = tuple(mart for mart in MARTS if mart.name in LEAST)
"""What every check of a published file asks for, and no more."""

OF_WEEK = (
    "mart.price_change",
    "drift_report",
    "price_change",
    "provider_price",
    "commitment_option",
    "source_health",
    "unknown_accelerator",
)
"""What the page of a day, the week and the report of drift read, with all that they rest on."""


def needed(*asked: str) -> tuple[tuple[Mart, ...], tuple[MartMacro, ...]]:
    """Return the marts and macros asked for with all that they rest on, and what every published file is checked by.

    A query on any other mart fails, so that no test passes for want of one.
    """
    found = made_of({*LEAST, *asked})
    return (
        tuple(mart for mart in MARTS if mart.name in found),
        tuple(macro for macro in MACROS if macro.name in found),
    )


_OF_MART = re.compile(r"\bint\.(\w+)")
_MADE = re.compile(r"\b(?:int|focus)\.\w+")
_OF_FORMULA = re.compile(rf"\b(?:{'|'.join(SCHEMAS)})\.\w+\(")


def formulas_of(made: Iterable[Mart | MartMacro]) -> Sequence[str]:
    """Return the statements that make the formulas: none where no SELECT names one.

    A mart that needs one and has none cannot be made.
    """
    return statements() if any(_OF_FORMULA.search(each.sql) for each in made) else []


def no_pages(settings: Settings, summary: Summary, **_: object) -> Path:
    """Write no page: say where the front page would be."""
    summary.report = settings.data_dir / "reports" / "index.html"
    return summary.report


@contextmanager
def published_with(*asked: str, least: Iterable[str] = LEAST, audit: bool = False) -> Iterator[None]:
    """Let runs publish the marts and macros asked for and what they rest on, without pages.

    A query on any other mart fails; the file is checked by what can be asked of it. A public view is asked for by its
    whole name, such as `mart.price_now`. `least`: what else is made; without it a publication takes half as long.
    `audit`: with the audit of claims, too.
    """
    public = tuple(each for each in PUBLIC if each.qualified in asked)
    names = (name for name in asked if not name.startswith("mart."))
    found = made_of(
        {"price_history", *least, *names, *(name for each in public for name in _OF_MART.findall(each.sql))}
    )
    marts = tuple(mart for mart in MARTS if mart.name in found)
    macros = tuple(macro for macro in MACROS if macro.name in found)
    made = {mart.qualified for mart in marts}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("flows.collect.publisher.MARTS", marts)
        patch.setattr("flows.collect.publisher.MACROS", macros)
        patch.setattr("flows.collect.publisher.PUBLIC", public)
        checks = [check for check in published_file.CHECKS if made.issuperset(_MADE.findall(check[1]))]
        patch.setattr(published_file, "CHECKS", checks)
        formulas = formulas_of((*marts, *macros, *public))
        patch.setattr("flows.collect.publisher.statements", lambda: formulas)
        if not audit:
            patch.setattr("flows.collect.publisher.audit_tables.TABLES", ())
        patch.setattr("flows.collect.publisher.report", no_pages)
        yield
