"""Numbers, dates and names are written one way."""

import re
from datetime import datetime
from decimal import Decimal

import pytest

from reports import wording
from transform.models import MARTS


@pytest.mark.parametrize(
    ("value", "places", "expected"),
    [
        (1234.5, 2, "1,234.50"),
        (Decimal("0.0948"), 4, "0.0948"),
        (-1.5, 1, "\N{MINUS SIGN}1.5"),
        (2.235, 2, "2.24"),
        (6.305, 2, "6.31"),
        (Decimal("0.685"), 2, "0.69"),
        (None, 2, wording.UNKNOWN),
    ],
)
def test_amounts_are_grouped_and_unknown_is_a_dash(value: float | Decimal | None, places: int, expected: str) -> None:
    assert expected == wording.amount(value, places)


def test_cents_unless_a_price_is_too_small_for_them() -> None:
    assert wording.places_of([2.744705, 0.53, None]) == 2
    assert wording.places_of([2.744705, 0.057]) == 4
    assert wording.places_of([]) == 2


def test_a_change_never_looks_like_none() -> None:
    """Before and after have as many places as it takes to see them differ."""
    assert wording.places_of_pairs([(Decimal("98.32"), Decimal("55.04"))]) == 2
    assert wording.places_of_pairs([(Decimal("98.32"), Decimal("55.04")), (Decimal("0.7582"), Decimal("0.7583"))]) == 4
    assert wording.places_of_pairs([(Decimal("21.957642"), Decimal("21.95764")), (None, Decimal(1))]) == 6


@pytest.mark.parametrize(
    ("ratio", "expected", "words"),
    [
        (-0.4401952807, "\N{MINUS SIGN}44.0 %", "fell 44.0 %"),
        (0.031, "+3.1 %", "rose 3.1 %"),
        (11.5, "+1,150.0 %", "rose 1,150.0 %"),
        (-0.0000001, "\N{MINUS SIGN}<0.1 %", "fell less than 0.1 %"),
        (0.0, "0.0 %", "unchanged"),
    ],
)
def test_percent_has_one_decimal_and_a_sign(ratio: float, expected: str, words: str) -> None:
    assert expected == wording.percent(ratio)
    assert words == wording.moved(ratio)


def test_a_share_next_to_nothing_is_not_none() -> None:
    shares = [wording.share(ratio).replace(wording.NBSP, " ") for ratio in (-0.61, 0.004, 0.0004, -1e-9, 0)]
    assert shares == ["61 %", "0.4 %", "<0.1 %", "<0.1 %", "0 %"]


def test_no_ratio_is_a_dash_without_an_arrow() -> None:
    assert wording.percent(None) == wording.UNKNOWN
    assert [wording.arrow(ratio) for ratio in (None, -0.1, 0.1, 0.0)] == ["", "▼", "▲", "="]


def test_a_window_is_the_days_between_two_looks() -> None:
    first, last = datetime(2025, 4, 28, 13), datetime(2025, 6, 23, 13)  # noqa: DTZ001
    assert wording.window(first, last) == "2025-04-28 to 2025-06-23"
    assert wording.window(last, last) == "2025-06-23"
    assert wording.window(None, last) == "by 2025-06-23"


def test_options_and_counts_in_words() -> None:
    assert wording.option("reserved", term_hours=26280, payment="All Upfront") == "Reserved 3 years, All Upfront"
    terms = ["1 year", "6 months", "7 days", "100 hours"]
    assert [wording.option("reserved", term_hours=n) for n in (8760, 4380, 168, 100)] == [
        f"Reserved {n}" for n in terms
    ]
    assert wording.option("spot") == "spot"
    found = [wording.count(n, "price") for n in (0, 1, 1.0, 1.5, 1405)]
    assert found == ["0 prices", "1 price", "1 price", "1.5 prices", "1,405 prices"]
    assert wording.few(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert wording.few([]) == ""


def test_an_error_is_cut_to_one_line_without_the_place_beside_it() -> None:
    assert wording.cause("aws: us-east-1: gone\n  away", "aws", "us-east-1") == "gone away"
    assert wording.short("x" * 200).endswith("…")
    assert len(wording.short("x" * 200)) == 160


def test_every_kind_of_change_has_words() -> None:
    """A kind that the mart gives and nobody put into words would stand on the page as a raw name."""
    sql = next(mart for mart in MARTS if mart.name == "price_move").sql
    kinds = set(re.findall(r"then '([a-z_]+)'", sql)) | set(re.findall(r"else '([a-z_]+)'", sql))

    assert "list_change" in kinds
    assert kinds - {"up", "down"} <= set(wording.KINDS)
    assert set(wording.KINDS) == set(wording.KINDS_COUNTED)
