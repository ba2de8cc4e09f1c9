"""The marts on a handful of literal rows, with the answers worked out by hand; most side by side in one file."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from few_marts import LEAST_MARTS, formulas_of
from log_rows import add_documents
from looks import ParsedFetch, Row, day, look, row
from published import query
from side_by_side import Case, World

from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file

SOURCES = [
    ("aws_price_list", "AWS", "The price list", "live", 10, 72, "https://x.test"),
    ("offline_archive", "AWS", "The archive", "archive", 50, None, "https://x.test"),
    ("import:x", "several", "An import", "import", 70, None, ""),
]
P5 = "p5.48xlarge"
OTHER = row("g6.xlarge", "1")
TERM = {"purchase_option": "reserved", "commitment_term_hours": 8760, "offering_class": "standard"}
PARTIAL = TERM | {"purchase_payment_model": "Partial Upfront"}
SPOT = {"purchase_option": "spot", "availability_zone_id": "use1-az1"}
BUILT_DAY = 10
OWN = "offer_id in (select offer_id from core.offer where $own)"
world = World("marts", "price_history")


@pytest.fixture(scope="module", autouse=True)
def published(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Publish all cases of this module."""
    world.publish(tmp_path_factory)


@pytest.fixture
def con(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with db.writer(tmp_path) as connection:
        yield connection


@pytest.fixture
def put(con: duckdb.DuckDBPyConnection, tmp_path: Path):
    """Return a function that loads looks, publishes at a day, and returns the file."""

    def loaded(*looks: ParsedFetch, at: float = BUILT_DAY) -> Path:
        for each in looks:
            add_documents(con, each)
            load(con, [each], recorded_at=each.observed_at)
        return published_file.publish(
            con, tmp_path, marts=LEAST_MARTS, formulas=formulas_of(LEAST_MARTS), sources=SOURCES, built_at=day(at),
            version="test",
        )  # fmt: skip

    return loaded


def live(at: float, *rows: Row, **others: object) -> ParsedFetch:
    return look(at, *rows, trusted=True, **others)


def past(at: float, *rows: Row, source: str = "offline_archive") -> ParsedFetch:
    return look(at, *rows, source=source, complete=False, archived=True)


DAY = f"epoch({{}} - timestamp '2026-01-01') / 86400 + {BUILT_DAY}"
"""The day of a case: that on which the file was built is its last."""


def lines(case: Case, sql: str) -> list[tuple[object, ...]]:
    """Return the rows of a query on the file of a case."""
    return [tuple(line.values()) for line in case.records(sql)]


def spliced(case: Case) -> list[tuple[object, ...]]:
    """Return first, last and confirmed day, price, first and last source of each spell of the spliced history."""
    days = ", ".join(f"{DAY.format(name)} as {name}" for name in ("valid_from", "valid_to", "last_observed_at"))
    return lines(
        case,
        f"select {days}, unit_price::double as unit_price, source, last_source from int.price_history where {OWN} "
        "order by offer_id, 1",
    )


# --- price_history: the splice


@world.shown(
    past(0, row(P5, "98.32")), past(3, row(P5, "55.04")), live(1, row(P5, "98.32")), live(5, row(P5, "55.04")),
    at=BUILT_DAY,
)  # fmt: skip
def test_the_earliest_source_dates_a_change(case: Case) -> None:
    """The archive saw the new price on day 3, the price list on day 5; nobody confirmed the old one in between."""
    assert spliced(case) == [
        (0, 3, 1, 98.32, "offline_archive", "aws_price_list"), (3, None, 5, 55.04, "offline_archive", "aws_price_list")
    ]  # fmt: skip


@world.shown(
    past(3, row(P5, "55.04")), live(1, row(P5, "98.32")), live(4, row(P5, "98.32")), live(6, row(P5, "55.04")),
    at=BUILT_DAY,
)  # fmt: skip
def test_a_better_source_overrules_while_it_confirms(case: Case) -> None:
    """On day 3 the price list still showed the old price: the archive's new one waits until that was last seen."""
    assert spliced(case) == [
        (1, 6, 4, 98.32, "aws_price_list", "aws_price_list"), (6, None, 6, 55.04, "aws_price_list", "aws_price_list")
    ]  # fmt: skip


@world.shown(
    past(0, row(P5, "21.957642")), live(1, row(P5, "21.95764")), past(1, row("g6.xlarge", "1.0002")),
    live(2, row(P5, "21.95764"), row("g6.xlarge", "1.0000")),
    live(3, row(P5, "21.95765"), row("g6.xlarge", "1.0000")),
    at=BUILT_DAY,
)  # fmt: skip
def test_amounts_rounded_differently_are_one(case: Case) -> None:
    """Within a ten-thousandth two sources say the same; beyond it they do not; one source is taken at its word."""
    assert sorted(spliced(case), key=str) == [
        (0, 3, 2, 21.957642, "offline_archive", "aws_price_list"),
        (1, 2, 1, 1.0002, "offline_archive", "offline_archive"),
        (2, None, 3, 1.0, "aws_price_list", "aws_price_list"),
        (3, None, 3, 21.95765, "aws_price_list", "aws_price_list"),
    ]


@world.shown(
    live(0, row(P5, "98.32"), OTHER), live(1, OTHER), live(2, OTHER), live(3, row(P5, "98.32"), OTHER),
    at=BUILT_DAY,
)  # fmt: skip
def test_an_offer_that_comes_back(case: Case) -> None:
    """Gone is a spell without a price, confirmed by complete looks; coming back begins a new one."""
    assert [line[:4] for line in spliced(case) if line[3] != 1] == [
        (0, 1, 0, 98.32), (1, 3, 2, None), (3, None, 3, 98.32)
    ]  # fmt: skip
    assert changes(case) == [
        (P5, 98.32, None, "gone_offer", 0, 1), (P5, None, 98.32, "returned_offer", 2, 3)
    ]  # fmt: skip


@world.shown(
    live(0, row(P5, "98.32"), OTHER), live(2, OTHER), live(4, OTHER), past(1, row(P5, "98.32")),
    past(3, row(P5, "98.32")),
    at=BUILT_DAY,
)  # fmt: skip
def test_a_worse_source_does_not_revive_what_a_better_one_ended(case: Case) -> None:
    """The archive's old sighting ends nothing and begins nothing after the price list has said that it is gone."""
    assert [line[:4] for line in spliced(case) if line[3] != 1] == [(0, 2, 1, 98.32), (2, None, 4, None)]


# --- price_change


THERE_AND_BACK = {0: ("98.32", "9"), 1: ("55.04", "5"), 8: ("98.32", "5"), 9: ("55.04", "5"), 17: ("98.32", "5")}
"""Days, and two prices on each."""


def changes(case: Case) -> list[tuple[object, ...]]:
    """Return type, prices, kind and the window in which it happened, in order."""
    return lines(
        case,
        "select instance_type, unit_price_before::double, unit_price_after::double, change_kind, "
        f"{DAY.format('last_observed_before_at')}, {DAY.format('observed_at')} from int.price_change where $own "
        "order by observed_at, instance_type",
    )


@world.shown(
    live(0, row(P5, "98.32"), row("g6.xlarge", "0.9"), row("p4d.24xlarge", "9", **SPOT)),
    live(1, row(P5, "55.04"), row("p4d.24xlarge", "7", **SPOT), row("p6-b200.48xlarge", "113.9")),
    live(2, row(P5, "55.04"), row("p4d.24xlarge", "9", **SPOT), row("p6-b200.48xlarge", "113.9")),
    at=BUILT_DAY,
)  # fmt: skip
def test_each_kind_of_change(case: Case) -> None:
    """List change, spot move, new and gone offer; the first look at a scope shows no new offers."""
    assert changes(case) == [
        ("g6.xlarge", 0.9, None, "gone_offer", 0, 1),
        ("p4d.24xlarge", 9, 7, "spot_move", 0, 1),
        (P5, 98.32, 55.04, "list_change", 0, 1),
        ("p6-b200.48xlarge", None, 113.9, "new_offer", None, 1),
        ("p4d.24xlarge", 7, 9, "spot_move", 1, 2),
    ]
    assert lines(
        case, "select round(change_ratio, 4) from int.price_change where $own and change_kind = 'list_change'"
    ) == [(-0.4402,)]


@world.shown(
    *(live(at, row(P5, p5), row("g6.xlarge", g6)) for at, (p5, g6) in THERE_AND_BACK.items()),
    at=18,
)  # fmt: skip
def test_a_price_that_returns_within_a_week_is_a_correction(case: Case) -> None:
    """There and back within seven days is a mistake put right, both moves of it; later, or never, it is a change."""
    assert [line[3] for line in changes(case) if line[0] == P5] == [
        "correction", "correction", "list_change", "list_change"
    ]  # fmt: skip
    assert [line[3] for line in changes(case) if line[0] == "g6.xlarge"] == ["list_change"]


@world.shown(
    live(0, row(P5, "5", upfront_price="43800", **PARTIAL)), live(1, row(P5, "5", upfront_price="35040", **PARTIAL)),
    at=BUILT_DAY,
)  # fmt: skip
def test_an_upfront_fee_counts_in_a_change(case: Case) -> None:
    """The ratio is of hourly + upfront / hours: 5 + 43800/8760 = 10 before, 5 + 35040/8760 = 9 after."""
    assert lines(
        case,
        "select change_kind, round(change_ratio, 9), upfront_price_before::int, upfront_price_after::int "
        "from int.price_change where $own",
    ) == [("list_change", -0.1, 43800, 35040)]


@world.shown(
    live(0, row(P5, "98.32"), OTHER, document="d0"), live(1, row(P5, "55"), OTHER, document="d1"),
    live(2, row(P5, "55"), OTHER, document="d2"), live(3, OTHER, document="d3"), live(4, OTHER, document="d4"),
    at=BUILT_DAY,
)  # fmt: skip
def test_a_change_leads_to_the_document_that_first_shows_it(case: Case) -> None:
    """Also the end of an offer, which is first shown by the first complete look without it."""
    assert lines(case, "select change_kind, document_sha256 from int.price_change where $own order by observed_at") == [
        ("list_change", f"d1 {case.number}"), ("gone_offer", f"d3 {case.number}")
    ]  # fmt: skip


# --- accelerator_hour_price


def hourly(case: Case) -> dict[object, tuple[object, ...]]:
    """Return chip, chips, price an hour, per chip and per NeuronCore by instance type."""
    found = lines(
        case,
        "select instance_type, accelerator_name, accelerator_count::double, round(effective_hourly_price, 9), "
        "round(price_per_accelerator_hour, 9), round(price_per_neuron_core_hour, 9), "
        "round(price_per_accelerator_hour_usd, 9) from int.accelerator_hour_price where $own",
    )
    return {line[0]: line[1:] for line in found}


@world.shown(
    live(
        0, row(P5, "55.04"), row("g6f.large", "0.202"), row("trn1.32xlarge", "21.5"),
        row("p4d.24xlarge", "4.5", upfront_price="118260", **PARTIAL | {"commitment_term_hours": 26280}),
        row("g4dn.xlarge", "5.223", pricing_currency="CNY", region_id="cn-north-1"),
        row("p99.48xlarge", "999"), row("inf2.xlarge", "0.76"),
    ),
    at=BUILT_DAY,
)  # fmt: skip
def test_prices_per_chip_hour(case: Case) -> None:
    """Worked out by hand: eight H100, an eighth of an L4, sixteen Trainium with two cores, an upfront fee, a yuan."""
    assert hourly(case) == {
        P5: ("H100", 8, 55.04, 6.88, None, 6.88),
        "g6f.large": ("L4", 0.125, 0.202, 1.616, None, 1.616),
        "trn1.32xlarge": ("Trainium1", 16, 21.5, 1.34375, 0.671875, 1.34375),
        "inf2.xlarge": ("Inferentia2", 1, 0.76, 0.76, 0.38, 0.76),
        "p4d.24xlarge": ("A100-40GB", 8, 9, 1.125, None, 1.125),
        "g4dn.xlarge": ("T4", 1, 5.223, 5.223, None, None),
        "p99.48xlarge": (None, None, 999, None, None, None),
    }
    assert lines(case, "select instance_type, n_offers from int.unknown_accelerator") == [("p99.48xlarge", 1)]
    assert lines(case, f"select n_without_accelerator from int.source_health where scope = '{case.region('a')}'") == [
        (1,)
    ]


@world.shown(
    past(0, row(None, "20", service_provider_name="lambda", accelerator_label="H100", accelerator_count="8")),
    at=BUILT_DAY,
)  # fmt: skip
def test_a_chip_that_is_sold_itself_needs_no_machine(case: Case) -> None:
    """A neocloud names chip and count; its price per chip is price / count, and it is not unknown."""
    assert lines(
        case, "select accelerator_name, price_per_accelerator_hour from int.accelerator_hour_price where $own"
    ) == [("H100", 2.5)]
    assert lines(case, "select 1 from int.unknown_accelerator where service_provider_name = 'lambda'") == []


LATELY = live(0, row(P5, "98.32"), row("g6.xlarge", "1")), live(1, row("g6.xlarge", "1"))


@world.shown(*LATELY, at=4)
def test_current_is_what_was_confirmed_lately(case: Case) -> None:
    """Within its source's max_age of three days a price is current; a gone offer has no last price."""
    assert lines(case, "select instance_type, is_current, age_days from int.accelerator_hour_price where $own") == [
        ("g6.xlarge", True, 3)
    ]
    assert lines(case, f"select 1 from core.current_price where {OWN}") == [(1,)]


@world.shown(*LATELY, at=4.1)
def test_what_was_confirmed_before_is_not_current(case: Case) -> None:
    assert lines(case, "select is_current from int.accelerator_hour_price where $own") == [(False,)]
    assert lines(case, f"select 1 from core.current_price where {OWN}") == []


# --- source_health


def test_source_health(put) -> None:
    """The last look, the last good one, what was refused lately, and with how many offers another source differs; not
    a region that the source is not asked for any more."""
    file = put(
        live(-29, row(P5, "98.32", region_id="us-west-2"), scope="us-west-2"),
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

OF_CASE = '"PricingRegionId" in (select region_id from core.offer where $own)'
"""Of the records of FOCUS, those of a case."""


@world.shown(
    live(
        0, row(P5, "55.04", sku_id="SKU", sku_price_id="SKU.JRTCKXETXF.6YS6EN2CT7"),
        row(
            "p4d.24xlarge", "4.5", upfront_price="39420", sku_id="S2", sku_price_id="S2.HU7G6KETJZ.6YS6EN2CT7",
            **PARTIAL,
        ),
        row("p3.2xlarge", "1.5", upfront_price="1", sku_price_id="S3.4NA7Y494T4.Q7UJUT2CE6", **PARTIAL),
        row("g6.xlarge", "0", upfront_price="5000", **TERM, purchase_payment_model="All Upfront"),
        row("g5.xlarge", "0.4", purchase_option="spot", availability_zone_id="use1-az1"),
    ),
    at=BUILT_DAY,
)  # fmt: skip
def test_focus_records(case: Case) -> None:
    """Partial Upfront is two records with two codes (China's upfront code is unknown), all others are one."""
    found = lines(
        case,
        'select "x_InstanceType", case when "SkuPriceId" like \'chipledger:%\' then \'own\' else "SkuPriceId" end, '
        '"ChargeCategory", "PricingCategory", "PurchaseDurationType", "UnitPrice"::double, "PricingUnit" '
        f"from focus.sku_price where {OF_CASE} order by 1, 3",
    )
    assert found == [
        ("g5.xlarge", "own", "Usage", "Dynamic", None, 0.4, "Hours"),
        ("g6.xlarge", "own", "Purchase", "Committed", "1 Year", 5000, "Units"),
        ("p3.2xlarge", "own", "Purchase", "Committed", "1 Year", 1, "Units"),
        ("p3.2xlarge", "S3.4NA7Y494T4.Q7UJUT2CE6", "Usage", "Committed", "1 Year", 1.5, "Hours"),
        ("p4d.24xlarge", "S2.HU7G6KETJZ.2TG2D8R56U", "Purchase", "Committed", "1 Year", 39420, "Units"),
        ("p4d.24xlarge", "S2.HU7G6KETJZ.6YS6EN2CT7", "Usage", "Committed", "1 Year", 4.5, "Hours"),
        (P5, "SKU.JRTCKXETXF.6YS6EN2CT7", "Usage", "Standard", None, 55.04, "Hours"),
    ]


CODE = {"sku_price_id": "S.JRTCKXETXF.6YS6EN2CT7"}
KEY = (
    '"ServiceProviderName", "SkuPriceId", "ContractId", "PricingCurrency", "UnitPriceType", "PricingRegionId", '
    '"AvailabilityZone"'
)


@world.shown(
    past(0, row(P5, "98.32")), live(1, row(P5, "98.32", **CODE), OTHER), past(2, row(P5, "55.04")),
    live(3, row(P5, "98.32", **CODE), OTHER), live(4, row(P5, "55.04", **CODE), OTHER), live(5, OTHER),
    live(6, row(P5, "55.04", **CODE), OTHER),
    at=BUILT_DAY,
)  # fmt: skip
def test_focus_records_of_one_key_do_not_overlap(case: Case) -> None:
    """Over changes, an end, a return and two sources each moment has at most one record of a key, of any case."""
    assert lines(case, f"select count(*) from focus.sku_price where \"x_InstanceType\" = '{P5}' and {OF_CASE}") == [
        (3,)
    ]
    file = case.world.file
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
