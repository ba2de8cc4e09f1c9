"""The marts on a handful of literal rows, with the answers worked out by hand."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from few_marts import LEAST_MARTS, formulas_of, undescribed
from log_rows import add_documents
from looks import ParsedFetch, Row, day, look, row
from published import query

from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
    ("import:x", "several", "An import", "import", 70, None, ""),
]
P5 = "p5.48xlarge"


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with db.writer(tmp_path) as connection:
        yield connection


@pytest.fixture
def put(con: duckdb.DuckDBPyConnection, tmp_path: Path):
    """Return a function that loads looks, publishes at a day, and returns the file."""

    def loaded(*looks: ParsedFetch, at: float = 10) -> Path:
        for each in looks:
            add_documents(con, each)
            load(con, [each], recorded_at=each.observed_at)
        return published_file.publish(
            con, tmp_path, marts=LEAST_MARTS, formulas=formulas_of(LEAST_MARTS), sources=SOURCES, built_at=day(at),
            version="test",
        )  # fmt: skip

    with undescribed():
        yield loaded


def live(at: float, *rows: Row, **others: object) -> ParsedFetch:
    return look(at, *rows, trusted=True, **others)


def past(at: float, *rows: Row, source: str = "offline_archive") -> ParsedFetch:
    return look(at, *rows, source=source, complete=False, archived=True)


DAY = "epoch({} - timestamp '2026-01-01') / 86400"


def spliced(file: Path) -> list[tuple[object, ...]]:
    """Return first, last and confirmed day, price, first and last source of each spell of the spliced history."""
    days = ", ".join(DAY.format(name) for name in ("valid_from", "valid_to", "last_observed_at"))
    return query(
        file, f"select {days}, unit_price::double, source, last_source from int.price_history order by offer_id, 1"
    )


# --- price_history: the splice


def test_the_earliest_source_dates_a_change(put) -> None:
    """The archive saw the new price on day 3, the price list on day 5; nobody confirmed the old one in between."""
    file = put(
        past(0, row(P5, "98.32")), past(3, row(P5, "55.04")), live(1, row(P5, "98.32")), live(5, row(P5, "55.04"))
    )

    assert spliced(file) == [
        (0, 3, 1, 98.32, "offline_archive", "aws_price_list"), (3, None, 5, 55.04, "offline_archive", "aws_price_list")
    ]  # fmt: skip


def test_a_better_source_overrules_while_it_confirms(put) -> None:
    """On day 3 the price list still showed the old price: the archive's new one waits until that was last seen."""
    file = put(
        past(3, row(P5, "55.04")), live(1, row(P5, "98.32")), live(4, row(P5, "98.32")), live(6, row(P5, "55.04"))
    )

    assert spliced(file) == [
        (1, 6, 4, 98.32, "aws_price_list", "aws_price_list"), (6, None, 6, 55.04, "aws_price_list", "aws_price_list")
    ]  # fmt: skip


def test_amounts_rounded_differently_are_one(put) -> None:
    """Within a ten-thousandth two sources say the same; beyond it they do not; one source is taken at its word."""
    file = put(
        past(0, row(P5, "21.957642")), live(1, row(P5, "21.95764")), past(1, row("g6.xlarge", "1.0002")),
        live(2, row(P5, "21.95764"), row("g6.xlarge", "1.0000")),
        live(3, row(P5, "21.95765"), row("g6.xlarge", "1.0000")),
    )  # fmt: skip

    assert sorted(spliced(file), key=str) == [
        (0, 3, 2, 21.957642, "offline_archive", "aws_price_list"),
        (1, 2, 1, 1.0002, "offline_archive", "offline_archive"),
        (2, None, 3, 1.0, "aws_price_list", "aws_price_list"),
        (3, None, 3, 21.95765, "aws_price_list", "aws_price_list"),
    ]


def test_an_offer_that_comes_back(put) -> None:
    """Gone is a spell without a price, confirmed by complete looks; coming back begins a new one."""
    other = row("g6.xlarge", "1")
    file = put(
        live(0, row(P5, "98.32"), other), live(1, other), live(2, other), live(3, row(P5, "98.32"), other)
    )  # fmt: skip

    assert [line[:4] for line in spliced(file) if line[3] != 1] == [
        (0, 1, 0, 98.32), (1, 3, 2, None), (3, None, 3, 98.32)
    ]  # fmt: skip
    assert changes(file) == [
        (P5, 98.32, None, "gone_offer", 0, 1), (P5, None, 98.32, "returned_offer", 2, 3)
    ]  # fmt: skip


def test_a_worse_source_does_not_revive_what_a_better_one_ended(put) -> None:
    """The archive's old sighting ends nothing and begins nothing after the price list has said that it is gone."""
    other = row("g6.xlarge", "1")
    file = put(
        live(0, row(P5, "98.32"), other), live(2, other), live(4, other), past(1, row(P5, "98.32")),
        past(3, row(P5, "98.32")),
    )  # fmt: skip

    assert [line[:4] for line in spliced(file) if line[3] != 1] == [(0, 2, 1, 98.32), (2, None, 4, None)]


# --- price_change


def changes(file: Path) -> list[tuple[object, ...]]:
    """Return type, prices, kind and the window in which it happened, in order."""
    return query(
        file,
        "select instance_type, unit_price_before::double, unit_price_after::double, change_kind, "
        f"{DAY.format('last_observed_before_at')}, {DAY.format('observed_at')} from int.price_change "
        "order by observed_at, instance_type",
    )


def test_each_kind_of_change(put) -> None:
    """List change, spot move, new and gone offer; the first look at a scope shows no new offers."""
    spot = {"purchase_option": "spot", "availability_zone_id": "use1-az1"}
    file = put(
        live(0, row(P5, "98.32"), row("g6.xlarge", "0.9"), row("p4d.24xlarge", "9", **spot)),
        live(1, row(P5, "55.04"), row("p4d.24xlarge", "7", **spot), row("p6-b200.48xlarge", "113.9")),
        live(2, row(P5, "55.04"), row("p4d.24xlarge", "9", **spot), row("p6-b200.48xlarge", "113.9")),
    )

    assert changes(file) == [
        ("g6.xlarge", 0.9, None, "gone_offer", 0, 1),
        ("p4d.24xlarge", 9, 7, "spot_move", 0, 1),
        (P5, 98.32, 55.04, "list_change", 0, 1),
        ("p6-b200.48xlarge", None, 113.9, "new_offer", None, 1),
        ("p4d.24xlarge", 7, 9, "spot_move", 1, 2),
    ]
    assert query(file, "select round(change_ratio, 4) from int.price_change where change_kind = 'list_change'") == [
        (-0.4402,)
    ]


def test_a_price_that_returns_within_a_week_is_a_correction(put) -> None:
    """There and back within seven days is a mistake put right, both moves of it; later, or never, it is a change."""
    prices = {0: ("98.32", "9"), 1: ("55.04", "5"), 8: ("98.32", "5"), 9: ("55.04", "5"), 17: ("98.32", "5")}
    file = put(*(live(at, row(P5, p5), row("g6.xlarge", g6)) for at, (p5, g6) in prices.items()), at=18)

    assert [line[3] for line in changes(file) if line[0] == P5] == [
        "correction", "correction", "list_change", "list_change"
    ]  # fmt: skip
    assert [line[3] for line in changes(file) if line[0] == "g6.xlarge"] == ["list_change"]


def test_an_upfront_fee_counts_in_a_change(put) -> None:
    """The ratio is of hourly + upfront / hours: 5 + 43800/8760 = 10 before, 5 + 35040/8760 = 9 after."""
    term = {
        "purchase_option": "reserved", "commitment_term_hours": 8760, "purchase_payment_model": "Partial Upfront",
        "offering_class": "standard",
    }  # fmt: skip
    file = put(
        live(0, row(P5, "5", upfront_price="43800", **term)), live(1, row(P5, "5", upfront_price="35040", **term))
    )

    assert query(
        file,
        "select change_kind, round(change_ratio, 9), upfront_price_before::int, upfront_price_after::int "
        "from int.price_change",
    ) == [("list_change", -0.1, 43800, 35040)]


def test_a_change_leads_to_the_document_that_first_shows_it(put) -> None:
    """Also the end of an offer, which is first shown by the first complete look without it."""
    other = row("g6.xlarge", "1")
    file = put(
        live(0, row(P5, "98.32"), other, document="d0"), live(1, row(P5, "55"), other, document="d1"),
        live(2, row(P5, "55"), other, document="d2"), live(3, other, document="d3"), live(4, other, document="d4"),
    )  # fmt: skip

    assert query(file, "select change_kind, document_sha256 from int.price_change order by observed_at") == [
        ("list_change", "d1"), ("gone_offer", "d3")
    ]  # fmt: skip


# --- accelerator_hour_price


def hourly(file: Path) -> dict[object, tuple[object, ...]]:
    """Return chip, chips, price an hour, per chip and per NeuronCore by instance type."""
    lines = query(
        file,
        "select instance_type, accelerator_name, accelerator_count::double, round(effective_hourly_price, 9), "
        "round(price_per_accelerator_hour, 9), round(price_per_neuron_core_hour, 9), "
        "round(price_per_accelerator_hour_usd, 9) from int.accelerator_hour_price",
    )
    return {line[0]: line[1:] for line in lines}


def test_prices_per_chip_hour(put) -> None:
    """Worked out by hand: eight H100, an eighth of an L4, sixteen Trainium with two cores, an upfront fee, a yuan."""
    term = {
        "purchase_option": "reserved", "commitment_term_hours": 26280, "purchase_payment_model": "Partial Upfront",
        "offering_class": "standard",
    }  # fmt: skip
    file = put(
        live(
            0, row(P5, "55.04"), row("g6f.large", "0.202"), row("trn1.32xlarge", "21.5"),
            row("p4d.24xlarge", "4.5", upfront_price="118260", **term),
            row("g4dn.xlarge", "5.223", pricing_currency="CNY", region_id="cn-north-1"),
            row("p99.48xlarge", "999"), row("inf2.xlarge", "0.76"),
        )
    )  # fmt: skip

    assert hourly(file) == {
        P5: ("H100", 8, 55.04, 6.88, None, 6.88),
        "g6f.large": ("L4", 0.125, 0.202, 1.616, None, 1.616),
        "trn1.32xlarge": ("Trainium1", 16, 21.5, 1.34375, 0.671875, 1.34375),
        "inf2.xlarge": ("Inferentia2", 1, 0.76, 0.76, 0.38, 0.76),
        "p4d.24xlarge": ("A100-40GB", 8, 9, 1.125, None, 1.125),
        "g4dn.xlarge": ("T4", 1, 5.223, 5.223, None, None),
        "p99.48xlarge": (None, None, 999, None, None, None),
    }
    assert query(file, "select instance_type, n_offers from int.unknown_accelerator") == [("p99.48xlarge", 1)]
    assert query(file, "select n_without_accelerator from int.source_health") == [(1,)]


def test_a_chip_that_is_sold_itself_needs_no_machine(put) -> None:
    """A neocloud names chip and count; its price per chip is price / count, and it is not unknown."""
    chips = row(
        None, "20", service_provider_name="lambda", accelerator_label="H100", accelerator_count="8", region_id=None
    )
    file = put(past(0, chips, source="import:x"))

    assert query(file, "select accelerator_name, price_per_accelerator_hour from int.accelerator_hour_price") == [
        ("H100", 2.5)
    ]
    assert query(file, "select count(*) from int.unknown_accelerator") == [(0,)]


def test_current_is_what_was_confirmed_lately(put) -> None:
    """Within its source's max_age of three days a price is current; a gone offer has no last price."""
    file = put(live(0, row(P5, "98.32"), row("g6.xlarge", "1")), live(1, row("g6.xlarge", "1")), at=4)
    assert query(file, "select instance_type, is_current, age_days from int.accelerator_hour_price") == [
        ("g6.xlarge", True, 3)
    ]
    assert query(file, "select count(*) from core.current_price") == [(1,)]

    file = put(at=4.1)
    assert query(file, "select is_current from int.accelerator_hour_price") == [(False,)]
    assert query(file, "select count(*) from core.current_price") == [(0,)]


# --- source_health


def test_source_health(put) -> None:
    """The last look, the last good one, what was refused lately, and with how many offers another source differs."""
    file = put(
        live(0, row(P5, "98.32"), row("g6.xlarge", "1"), scope="us-east-1"),
        live(1, row(P5, "98.32"), row("g6.xlarge", "0"), scope="us-east-1"),
        look(2, scope="us-east-1", error="HTTP 503", document="none"),
        past(0, row(P5, "50"), row("g6.xlarge", "1.00001")),
        at=3,
    )

    found = query(
        file,
        "select source, scope, status, day(last_tried_at)::int, day(last_good_at)::int, age_days, is_current, "
        "n_rows, n_refused, n_disagreements, error from int.source_health order by source",
    )
    assert found == [
        ("aws_price_list", "us-east-1", "failed", 3, 2, 2.0, True, 1, 1, 1, "HTTP 503"),
        ("offline_archive", "a", "ok", 1, 1, 3, False, 2, 0, 1, None),
    ]


# --- focus_sku_price


def test_focus_records(put) -> None:
    """Partial Upfront is two records with two codes, All Upfront one, on-demand one; categories are FOCUS's."""
    term = {"purchase_option": "reserved", "commitment_term_hours": 8760, "offering_class": "standard"}
    file = put(
        live(
            0, row(P5, "55.04", sku_id="SKU", sku_price_id="SKU.JRTCKXETXF.6YS6EN2CT7"),
            row(
                "p4d.24xlarge", "4.5", upfront_price="39420", sku_id="S2", sku_price_id="S2.HU7G6KETJZ.6YS6EN2CT7",
                purchase_payment_model="Partial Upfront", **term,
            ),
            row("g6.xlarge", "0", upfront_price="5000", purchase_payment_model="All Upfront", **term),
            row("g5.xlarge", "0.4", purchase_option="spot", availability_zone_id="use1-az1"),
        )
    )  # fmt: skip

    found = query(
        file,
        'select "x_InstanceType", "SkuPriceId" like \'chipledger:%\' or "SkuPriceId", "ChargeCategory", '
        '"PricingCategory", "PurchaseDurationType", "UnitPrice"::double, "PricingUnit" '
        "from focus.sku_price order by 1, 3".replace(
            '"SkuPriceId" like \'chipledger:%\' or "SkuPriceId"',
            "case when \"SkuPriceId\" like 'chipledger:%' then 'own' else \"SkuPriceId\" end",
        ),
    )
    assert found == [
        ("g5.xlarge", "own", "Usage", "Dynamic", None, 0.4, "Hours"),
        ("g6.xlarge", "own", "Purchase", "Committed", "1 Year", 5000, "Units"),
        ("p4d.24xlarge", "S2.HU7G6KETJZ.2TG2D8R56U", "Purchase", "Committed", "1 Year", 39420, "Units"),
        ("p4d.24xlarge", "S2.HU7G6KETJZ.6YS6EN2CT7", "Usage", "Committed", "1 Year", 4.5, "Hours"),
        (P5, "SKU.JRTCKXETXF.6YS6EN2CT7", "Usage", "Standard", None, 55.04, "Hours"),
    ]


KEY = (
    '"ServiceProviderName", "SkuPriceId", "ContractId", "PricingCurrency", "UnitPriceType", "PricingRegionId", '
    '"AvailabilityZone"'
)


def test_focus_records_of_one_key_do_not_overlap(put) -> None:
    """Over changes, an end, a return and two sources each moment has at most one record of a key."""
    code = {"sku_price_id": "S.JRTCKXETXF.6YS6EN2CT7"}
    other = row("g6.xlarge", "1")
    file = put(
        past(0, row(P5, "98.32")), live(1, row(P5, "98.32", **code), other), past(2, row(P5, "55.04")),
        live(3, row(P5, "98.32", **code), other), live(4, row(P5, "55.04", **code), other), live(5, other),
        live(6, row(P5, "55.04", **code), other),
    )  # fmt: skip

    assert query(file, "select count(*) from focus.sku_price where \"x_InstanceType\" = 'p5.48xlarge'") == [(3,)]
    assert (
        query(
            file,
            "select 1 from focus.sku_price window w as "
            f'(partition by {KEY} order by "SkuPriceEffectiveStart") qualify "SkuPriceEffectiveStart" < '
            "lag(coalesce(\"SkuPriceEffectiveEnd\", timestamp '9999-01-01')) over w",
        )
        == []
    )
    assert (
        query(file, f'select 1 from focus.sku_price group by {KEY}, "SkuPriceEffectiveStart" having count(*) > 1') == []
    )
