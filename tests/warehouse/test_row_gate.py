"""The row gate: what one observation must be, and what becomes of it where it is not."""

import json
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looks import PARTIAL, Row, day, frame, history, look, memory, refused, row

from warehouse.documents import RefusedRow
from warehouse.errors import ChipledgerError
from warehouse.log.events import naive
from warehouse.log.gates import RULES, row_gate
from warehouse.log.load import decide, load
from warehouse.log.quarantine import listed

CHIP = {"accelerator_label": "H100", "accelerator_count": "8"}
SPOILT: list[tuple[str, Row, Row]] = [
    ("the provider is missing", row("p5.48xlarge", "55.04"), {"service_provider_name": None}),
    (
        "neither an instance type nor an accelerator with its count is named",
        row(None, "20", **CHIP), {"accelerator_count": None},
    ),
    ("not a count of at most four decimals", row(None, "20", **CHIP), {"accelerator_count": "0.12345"}),
    (
        "unknown capacity unit; known: instance, UltraServer, GPU",
        row("p5.48xlarge", "55.04"), {"capacity_unit": "rack"},
    ),
    ("the region is missing", row("p5.48xlarge", "55.04"), {"region_id": None}),
    ("the purchase option is missing", row("p5.48xlarge", "55.04"), {"purchase_option": None}),
    (
        "unknown purchase option; known: on_demand, reserved, savings_plan, spot, capacity_block",
        row("p5.48xlarge", "55.04"), {"purchase_option": "lease"},
    ),
    ("unknown statistic; known: price, floor, p25, median", row("p5.48xlarge", "55.04"), {"statistic": "mean"}),
    ("unknown pricing unit; known: Minutes, Months", row("p5.48xlarge", "55.04"), {"pricing_unit": "Fortnights"}),
    (
        "unknown restriction; known: grandfathered, announced, reservation",
        row("p5.48xlarge", "55.04"), {"restriction": "friends"},
    ),
    ("unknown kind of price; known: List, Contracted", row("p5.48xlarge", "55.04"), {"unit_price_type": "Guess"}),
    ("the currency is missing", row("p5.48xlarge", "55.04"), {"pricing_currency": None}),
    ("unknown currency; known: USD, CNY, EUR, GBP", row("p5.48xlarge", "55.04"), {"pricing_currency": "XXX"}),
    ("no amount such as 2.99, to ten decimals", row("p5.48xlarge", "55.0400000001"), {"unit_price": "55.04000000001"}),
    (
        "no amount such as 2.99, to ten decimals",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"upfront_price": "1e4"},
    ),
    ("a price of zero, which no accelerator is sold for", row("p5.48xlarge", "0.0000000001"), {"unit_price": "0.00"}),
    (
        "an hourly price with All Upfront, whose fee is all: write 0",
        row("p4d.24xlarge", "0", **PARTIAL | {"purchase_payment_model": "All Upfront"}, upfront_price="118260"),
        {"unit_price": "13.5"},
    ),
    (
        "the recurring price is missing",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"unit_price": None},
    ),
    (
        "an AWS commitment lasts one or three years",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"commitment_term_hours": 8784},
    ),
    (
        "terms of a commitment with a price on demand or spot: leave them empty, or name the purchase option",
        row("p5.48xlarge", "55.04"), {"commitment_term_hours": 8760},
    ),
    (
        "terms of a commitment with a price on demand or spot: leave them empty, or name the purchase option",
        row("p5.48xlarge", "23.78"), {"purchase_payment_model": "No Upfront"},
    ),
    (
        "terms of a commitment with a price on demand or spot: leave them empty, or name the purchase option",
        row("p5.48xlarge", "23.78"), {"offering_class": "standard"},
    ),
    (
        "terms of a commitment with a price on demand or spot: leave them empty, or name the purchase option",
        row("p5.48xlarge", "23.78"), {"upfront_price": "100000"},
    ),
    (
        "the payment model is missing",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"purchase_payment_model": None},
    ),
    (
        "unknown payment model; known: No Upfront, Partial Upfront, All Upfront",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"purchase_payment_model": "Upfront"},
    ),
    (
        "unknown offering class; known: standard, convertible",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"offering_class": "flexible"},
    ),
    (
        "the upfront fee of a Partial or All Upfront term is missing or zero",
        row("p4d.24xlarge", "6.8", **PARTIAL, upfront_price="59000"), {"upfront_price": "0"},
    ),
    (
        "an upfront fee with a Savings Plan, whose rate holds it: leave it empty",
        row("p4d.24xlarge", "9", **PARTIAL | {"purchase_option": "savings_plan"}, upfront_price=None),
        {"upfront_price": "118260"},
    ),
    (
        "an upfront fee with No Upfront",
        row("p4d.24xlarge", "13.92", **PARTIAL | {"purchase_payment_model": "No Upfront"}, upfront_price="0"),
        {"upfront_price": "1"},
    ),
]  # fmt: skip
"""For each rule its reason, a row that it lets pass, and the change that it refuses."""


@pytest.mark.parametrize(("reason", "good", "change"), SPOILT)
def test_each_rule_refuses_one_change_of_a_good_row(reason: str, good: Row, change: Row) -> None:
    """The good row passes; with one value changed it is refused, with the reason, the field and the value."""
    (field,) = [field for field, words, _ in RULES if words == reason and field in {*change, "instance_type"}]

    accepted, none = row_gate(frame([good]))
    kept, refusals = row_gate(frame([good | change]))

    assert (accepted.height, none, kept.height) == (1, [], 0)
    assert [(each.reason, each.field, each.value) for each in refusals] == [
        (reason, field, str((good | change)[field]))
    ]


def test_no_rule_is_without_a_test() -> None:
    """The list above names every rule of the gate, in its order."""
    assert [reason for reason, _, _ in SPOILT] == [reason for _, reason, _ in RULES]


@pytest.mark.parametrize(
    ("payment", "unit_price", "upfront_price", "passes"),
    [
        ("All Upfront", "0", "70000", True),
        ("All Upfront", "0.0000000000", "70000", True),
        ("All Upfront", "0", None, False),
        ("Partial Upfront", "6.8", None, False),
        ("Partial Upfront", None, "59000", False),
        ("Partial Upfront", "0", "59000", False),
        ("No Upfront", "13.92", None, True),
        ("No Upfront", "0", None, False),
        *((payment, None, None, True) for payment in ("All Upfront", "Partial Upfront", "No Upfront")),
    ],
)
def test_amounts_fit_the_payment_model(
    payment: str, unit_price: str | None, upfront_price: str | None, passes: bool
) -> None:
    """All Upfront may cost nothing an hour; a Partial Upfront term that lacks a half is refused.

    Without any amount each says that it is not offered from then on.
    """
    term = row("p4d.24xlarge", unit_price, **PARTIAL | {"purchase_payment_model": payment}, upfront_price=upfront_price)

    _, refusals = row_gate(frame([term]))

    assert passes == (refusals == [])


@pytest.mark.parametrize("text", ["1.23456789012", "123456789", "-1", "NaN", "1,5", "", " 1", "1e3", "٣", "1.", ".5"])
def test_text_that_is_no_exact_amount_is_refused(text: str) -> None:
    """More digits than DECIMAL(18,10) holds are refused, not rounded; so is everything that is no plain number."""
    _, refusals = row_gate(frame([row("p5.48xlarge", text)]))

    assert [each.field for each in refusals] == ["unit_price"]


AMOUNTS = st.builds(
    lambda whole, digits: f"{whole}.{digits}" if digits else str(whole),
    st.integers(1, 99_999_999),
    st.text("0123456789", max_size=10),
)


@settings(max_examples=3, deadline=None)
@given(st.lists(AMOUNTS, min_size=40, max_size=60))
def test_amounts_are_exact_from_text_to_file(tmp_path_factory: pytest.TempPathFactory, amounts: list[str]) -> None:
    """Whatever the digits, the amount in the DuckDB file equals the Decimal of the document's text."""
    path = tmp_path_factory.mktemp("exact") / "build.duckdb"
    with duckdb.connect(str(path)) as con:
        from warehouse.log import db

        db.migrate(con)
        load(con, [look(0, *(row(f"p{i}.x", text) for i, text in enumerate(amounts)))], recorded_at=day(1))
    with duckdb.connect(str(path), read_only=True) as con:
        found = con.execute(
            "select instance_type, unit_price from core.price_event join core.offer using (offer_id)"
        ).fetchall()

    assert {f"p{i}.x": Decimal(text) for i, text in enumerate(amounts)} == dict(found)


def imported(*rows: Row) -> pl.DataFrame:
    """Return rows with times of their own, as an import gives them."""
    return frame(list(rows)).with_columns(
        pl.col("observed_at_utc").str.to_datetime("%Y-%m-%d", strict=False, time_unit="us").alias("observed_at")
    )


def test_rows_of_another_shape_are_a_fault_of_the_program() -> None:
    """A column that is missing, and one of another type."""
    rows = frame([row("p3.one", "1")])
    for wrong, told in ((rows.drop("tier"), "tier"), (rows.with_columns(sku_id=pl.lit(1.0)), "Float64")):
        with pytest.raises(TypeError, match=f"not of the declared shape.*{told}"):
            row_gate(wrong)


def test_an_import_has_times_that_can_be_and_are_past() -> None:
    """A time that cannot be read, one after the import and one before any cloud are refused, by row; others pass."""
    rows = imported(
        row("p3.one", "1", observed_at_utc="2025-05-05"), row("p3.two", "1", observed_at_utc="yesterday"),
        row("p3.three", "1", observed_at_utc="2026-01-02"), row("p3.four", "0", observed_at_utc="2025-05-05"),
        row("p3.five", "1", observed_at_utc="0025-05-05"),
    )  # fmt: skip

    accepted, refusals = row_gate(rows, latest=naive(day(0)))

    assert [("p3.one", datetime(2025, 5, 5))] == accepted.select("instance_type", "observed_at").rows()  # noqa: DTZ001
    assert {
        (1, "observed_at_utc", "yesterday", "not a time like 2026-06-30T13:18Z"),
        (2, "observed_at_utc", "2026-01-02", "a time in the future"),
        (3, "unit_price", "0", "a price of zero, which no accelerator is sold for"),
        (4, "observed_at_utc", "0025-05-05", "a time before 2006, when EC2 began"),
    } == {(each.row, each.field, each.value, each.reason) for each in refusals}


def test_refused_rows_keep_their_words_and_the_others_are_loaded() -> None:
    """The quarantine has the whole row as it came, the reason and the document; the rest of the look counts."""
    bad = row("p5.48xlarge", "55.12345678901", sku_id="ABC")
    with memory() as con:
        (result,) = load(con, [look(0, bad, row("p4d.24xlarge", "21.96"), document="d1")], recorded_at=day(0))
        (kept,) = listed(con)

        assert (result.status, result.n_rows, result.n_refused) == ("ok", 1, 1)
        assert history(con) == [("p4d.24xlarge", 0, None, 0, "21.96")]
    assert json.loads(kept.row_json) == bad | {"document_sha256": "d1"}
    assert (kept.gate, kept.field, kept.value, kept.document_sha256) == ("row", "unit_price", "55.12345678901", "d1")
    assert kept.reason == "no amount such as 2.99, to ten decimals"


def test_an_offer_whose_amount_is_refused_is_unknown_not_gone() -> None:
    """Its last price holds, last confirmed before; the look stays complete, so that a missing offer is gone."""
    with memory() as con:
        offers = [row("p5.48xlarge", "55.04"), row("p4d.24xlarge", "21.96"), row("p3.2xlarge", "3.06")]
        spoilt = [row("p5.48xlarge", "55.000000000001"), row("p4d.24xlarge", "21.96")]
        load(con, [look(0, *offers), look(1, *spoilt, trusted=True)], recorded_at=day(1))

        assert history(con) == [
            ("p3.2xlarge", 0, 1, 0, "3.06"),
            ("p4d.24xlarge", 0, None, 1, "21.96"),
            ("p5.48xlarge", 0, None, 0, "55.04"),
        ]

        load(con, [look(2, *offers[:2])], recorded_at=day(2))

        assert ("p5.48xlarge", 0, None, 2, "55.04") in history(con)


@pytest.mark.parametrize(
    "spoilt",
    [
        row("p5.48xlarge", "55.04", pricing_currency="XXX"),
        # The price and the class are both wrong: the gate names the price, and nobody knows the offer.
        row("p5.48xlarge", "55.000000000001", offering_class="flexible"),
    ],
)
def test_a_row_of_no_known_offer_makes_the_look_incomplete(spoilt: Row) -> None:
    """Where a row cannot be placed, the look says of no offer that it is gone; what it shows is confirmed."""
    with memory() as con:
        others = [row("p2.xlarge", "0.9"), row("p3.2xlarge", "3.06"), row("p4d.24xlarge", "21.96")]
        load(con, [look(0, row("p5.48xlarge", "55.04"), *others)], recorded_at=day(0))
        load(con, [look(1, spoilt, *others)], recorded_at=day(1))

        assert {name: last for name, _, end, last, _ in history(con) if end is None} == {
            "p2.xlarge": 1,
            "p3.2xlarge": 1,
            "p4d.24xlarge": 1,
            "p5.48xlarge": 0,
        }
        assert con.execute("select complete from core.scope_run order by observed_at").fetchall() == [(True,), (False,)]
        assert len(refused(con)) == 1


def test_a_row_that_its_source_could_not_read_waits_in_quarantine() -> None:
    """With its reason; the others are read, and none is called gone, as it may be this one. Nobody can accept it."""
    with memory() as con:
        others = [row("p4d.24xlarge", "21.96"), row("p5.48xlarge", "55.04")]
        load(con, [look(0, row("p2.xlarge", "0.9"), row("p3.2xlarge", "3.06"), *others)], recorded_at=day(0))
        unread = RefusedRow(reason="no price", field="price", value="Waitlist", content="P3 | Waitlist")
        later = replace(look(1, row("p2.xlarge", "1.2"), *others), unread=(unread,))
        (result,) = load(con, [later], recorded_at=day(1))

        assert (result.status, result.n_rows, result.n_refused) == ("ok", 3, 1)
        in_force = {name: price for name, _, end, _, price in history(con) if end is None}
        assert (in_force["p2.xlarge"], in_force["p3.2xlarge"]) == ("1.2", "3.06")
        (waiting,) = listed(con)
        assert (waiting.gate, waiting.reason, waiting.field, waiting.value) == ("row", "no price", "price", "Waitlist")
        assert json.loads(waiting.row_json) == {"row": "P3 | Waitlist"}
        with pytest.raises(ChipledgerError, match="cannot be accepted"):
            decide(con, waiting.quarantine_id, "accept", decided_by="a person", recorded_at=day(2))
        decide(con, waiting.quarantine_id, "refuse", decided_by="a person", recorded_at=day(2))
        assert listed(con) == []


def test_the_file_keeps_the_bytes_of_refused_documents(tmp_path: Path) -> None:
    """A refused row names the document, whose bytes are landed before anything is parsed."""
    from warehouse.documents import Document, ScopeFetch
    from warehouse.landing.folder import Landing

    landing = Landing(tmp_path)
    document = Document(source="s", scope="a", url="u", body=b"price;one euro", fetched_at=day(0))
    landing.record_fetch(
        ScopeFetch(source="s", scope="a", observed_at=day(0), complete=True, documents=(document,)),
        run_id="r", recorded_at=day(0),
    )  # fmt: skip

    assert landing.body(document.sha256) == b"price;one euro"
