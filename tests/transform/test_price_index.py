"""The drift index on literal rows: what counts, what is held, what ends a link, and what is said beside it."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import duckdb
import pytest
from index_panel import Offer, derive, panels
from index_panel import date as on
from index_panel import load as load_panel
from looks import Row, day, look, memory, row

from warehouse.log.load import load
from warehouse.log.parsed import ParsedFetch

P4, P5, P5EN = "p4d.24xlarge", "p5.48xlarge", "p5en.48xlarge"
RESERVED = {"purchase_option": "reserved", "commitment_term_hours": 8760}
SEEN: list[ParsedFetch] = []
"""The looks of all tests that ask `seen`, each about providers or machines that no other one has."""


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log in memory."""
    with memory() as con:
        yield con


@pytest.fixture(scope="module")
def seen() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a log of what `look_at` was given by all tests, as if published after the last of their days."""
    with memory() as con:
        con.execute(
            "insert into core.fx_rate by name select *, now() as recorded_at from (values "
            "('USD', date '2026-01-01', 1.1), ('USD', date '2026-01-02', 1.2)) as r "
            "(pricing_currency, rate_date, units_per_eur)"
        )
        put(con, *SEEN, at=1300)
        yield con


def look_at(*looks: ParsedFetch) -> None:
    """Let `seen` have looks."""
    SEEN.extend(looks)


def put(con: duckdb.DuckDBPyConnection, *looks: ParsedFetch, at: float) -> None:
    """Load looks and make the marts, as if published at a day."""
    load(con, looks, recorded_at=day(at))
    derive(con, at=at)


def live(at: float, *rows: Row, **others: Any) -> ParsedFetch:
    """Return a complete look that no gate doubts; archived ones load at once, and hold to the next."""
    scope = rows[0]["service_provider_name"] if rows else "a"
    options: dict[str, Any] = {"source": "live", "archived": True, "trusted": True, "scope": scope} | others
    return look(at, *rows, **options)


def told(at: float, *rows: Row, **others: Any) -> ParsedFetch:
    """Return a look of an import."""
    return live(at, *rows, **({"source": "import:a", "complete": False} | others))


def chip(price: str, label: str = "H100", of: str = "a", **others: Any) -> Row:
    """Return the price of one chip of a provider."""
    named = {"service_provider_name": of, "accelerator_label": label, "accelerator_count": "1", "region_id": None}
    return row(None, price, **(named | others))


def series(
    con: duckdb.DuckDBPyConnection, columns: str, level: str = "all", **where: str
) -> Sequence[tuple[object, ...]]:
    """Return columns of the series of a level, by day."""
    conditions = "".join(f" and {name} = '{value}'" for name, value in where.items())
    query = f"select {columns} from int.price_index where index_level = '{level}'{conditions} order by all"
    return con.execute(query).fetchall()


def indices(con: duckdb.DuckDBPyConnection, level: str = "all", **where: str) -> list[float]:
    """Return the index of each day of one series, rounded far below what anybody reads."""
    return [round(float(str(value)), 9) for _, value in series(con, "index_date, price_index", level, **where)]


def of_provider(con: duckdb.DuckDBPyConnection, name: str, columns: str) -> Sequence[tuple[object, ...]]:
    """Return columns of the series of a provider that has one, by day."""
    return series(con, columns, "provider", service_provider_name=name)


look_at(*(live(at, chip(price, of="End")) for at, price in ((0, "2"), (1.2, "2.5"), (1.9, "3"), (2, "3"))))


def test_a_day_has_the_price_at_its_end(seen: duckdb.DuckDBPyConnection) -> None:
    """Two changes on one day are one move, dated on that day (UTC)."""
    assert of_provider(seen, "End", "index_date, price_index") == [
        (date(2026, 1, 1), 100), (date(2026, 1, 2), pytest.approx(150)), (date(2026, 1, 3), pytest.approx(150)),
    ]  # fmt: skip


def spot(at: float, price: str) -> ParsedFetch:
    """Return a look at a spot price."""
    offer = row(P5, price, purchase_option="spot", availability_zone_id="use1-az1")
    return live(at, offer, source="aws_spot")


look_at(spot(0, "2"), spot(1.5, "4"), spot(2.5, "4"), spot(3, "4"))


def test_a_day_of_spot_has_its_mean_over_time(seen: duckdb.DuckDBPyConnection) -> None:
    """From 2 to 4 at noon: 3 on that day, 4 on the next."""
    assert indices(seen, "provider", service_provider_name="AWS", purchase_option="spot") == [100, 150, 200, 200]


def test_providers_and_chips_have_equal_weights_and_options_none(con: duckdb.DuckDBPyConnection) -> None:
    """One provider's three offers weigh as another's one; a chip's two providers as another chip's one."""

    def shown(price: str, *others: Row) -> list[Row]:
        many = [chip(price, region_id=region) for region in "xyz"]
        return [*many, chip("5", of="b"), chip("7", "B200"), *others]

    reserved = chip("1", **RESERVED)
    put(con, live(0, *shown("2", reserved)), live(1, *shown("3", reserved)), at=1.5)

    assert indices(con, "provider", service_provider_name="a", accelerator_name="H100", purchase_option="on_demand")[
        -1
    ] == pytest.approx(150)
    assert indices(con, "chip", accelerator_name="H100", purchase_option="on_demand")[-1] == pytest.approx(
        100 * 1.5**0.5
    )
    assert indices(con, purchase_option="on_demand")[-1] == pytest.approx(100 * 1.5**0.25)
    assert indices(con, purchase_option="reserved") == [100, 100]


def test_absence_is_held_for_seven_days_and_then_closes_on_its_first(con: duckdb.DuckDBPyConnection) -> None:
    """Back on the eighth day at another price: compared with the price before.

    Back on the ninth: no comparison, a new chain, and nothing said of the days between, nor any move of the whole.
    """
    other = chip("9", "A100")
    looks = [
        live(
            at, *([] if 1 <= at < 8 else [chip("2" if at < 1 else "3")]),
            *([] if 1 <= at < 9 else [chip("4" if at < 1 else "8", "H200")]), other, archived=False,
        )
        for at in (0, 1, 4, 7, 8, 9, 10)
    ]  # fmt: skip
    put(con, *looks, at=10.5)
    columns = "index_date, price_index, n_carried, n_new, n_gone, chain_number, n_matched"
    held = series(con, columns, "provider", accelerator_name="H100")
    assert [line[1:5] for line in held] == [
        (100, 0, 1, 0), *[(100, 1, 0, 0)] * 7, *[(pytest.approx(150), 0, 0, 0)] * 3,
    ]  # fmt: skip
    closed = [(line[0], line[1], *line[5:]) for line in series(con, columns, "provider", accelerator_name="H200")]
    assert closed == [(date(2026, 1, 1), 100, 1, 0), (date(2026, 1, 10), 100, 2, 0), (date(2026, 1, 11), 100, 2, 1)]
    assert indices(con) == [100] * 8 + [pytest.approx(100 * 1.5**0.5)] * 3  # two chips are compared on day 8


def test_absence_that_lasts_is_held_until_a_week_has_passed(con: duckdb.DuckDBPyConnection) -> None:
    """Nobody knows yet whether it comes back; then the days are taken back.

    Days that ended less than 24 hours before the file was built are provisional.
    """
    other = chip("9", "A100")
    put(con, live(0, chip("2"), other), *(live(at, other) for at in range(1, 4)), at=3.5)
    assert len(indices(con, "provider", accelerator_name="H100")) == 4
    assert [flag for _, flag in series(con, "index_date, is_provisional")] == [False, False, True, True]


look_at(
    *(live(at, chip(price, of="Seven"), archived=False) for at, price in ((0, "2"), (8, "3"))),
    *(
        live(at, chip(price, of="Eight"), chip("4", of="Eight", region_id="z"), archived=False)
        for at, price in ((0, "2"), (9, "3"))
    ),
)  # fmt: skip


def test_a_week_without_a_look_is_bridged(seen: duckdb.DuckDBPyConnection) -> None:
    """Seven days on which nobody looked, longer than max_age: compared; eight: not, what moved and what did not."""
    assert indices(seen, "provider", service_provider_name="Seven")[8] == 150
    found = of_provider(seen, "Eight", "index_date, price_index, chain_number, n_items")
    assert [line for line in found if line[0] <= day(9).date()] == [
        *((day(at).date(), 100, 1, 2) for at in range(4)), (day(9).date(), 100, 2, 2),
    ]  # fmt: skip


look_at(*(live(at, chip("2", of="Held"), archived=False) for at in (0, 1)))


def test_without_a_look_a_price_is_held_for_its_max_age(seen: duckdb.DuckDBPyConnection) -> None:
    """Three days for this source, whatever the day of the file."""
    assert len(of_provider(seen, "Held", "index_date")) == 5


OTHER = chip("9", "A100", of="Import")
look_at(
    *(told(at, chip("2", of="Import"), chip("4", "H200", of="Import"), OTHER) for at in (0, 1)),
    told(83, chip("3", of="Import"), OTHER),
    told(92, chip("3", of="Import"), chip("5", "H200", of="Import"), OTHER),
)


def test_imports_hold_until_their_next_look(seen: duckdb.DuckDBPyConnection) -> None:
    """82 days without a look are bridged; what eight days of looks did not show is not."""
    provider = {"service_provider_name": "Import"}
    assert indices(seen, "provider", accelerator_name="H100", **provider)[-1] == 150
    assert series(seen, "index_date, price_index", "provider", accelerator_name="H200", **provider)[-2:] == [
        (date.fromisoformat(on(82)), 100), (date.fromisoformat(on(92)), 100),
    ]  # fmt: skip


look_at(
    *(
        told(at, *rows, source="import:changes")
        for at, rows in ((0, (row(P4, "32"), row(P5, "98"))), (1000, (row(P5, "55"),)), (1200, (row(P5EN, "63"),)))
    )
)


def test_an_import_of_changes_holds_to_its_last_word(seen: duckdb.DuckDBPyConnection) -> None:
    """It never told a price twice: silence of years is no absence, and ends with its last row."""
    listed = {"service_provider_name": "AWS", "purchase_option": "on_demand"}
    assert indices(seen, "provider", accelerator_name="A100-40GB", **listed) == [100] * 1201
    assert indices(seen, "provider", accelerator_name="H100", **listed)[-1] == pytest.approx(100 * 55 / 98)


look_at(*(live(at, chip(price, of="Doubtful")) for at, price in enumerate(("2", "2.2", "2", "2", "16", "16"))))


def test_what_is_no_move_moves_nothing(seen: duckdb.DuckDBPyConnection) -> None:
    """There and back, and eight times as much: counted as doubtful; the level shows them and drift does not."""
    assert indices(seen, "provider", service_provider_name="Doubtful") == [100] * 6
    found = of_provider(seen, "Doubtful", "index_date, n_doubtful, n_moved, median_price_usd")
    assert [line[1:] for line in found] == [
        (0, 0, pytest.approx(2)), (1, 0, pytest.approx(2.2)), (1, 0, pytest.approx(2)), (0, 0, pytest.approx(2)),
        (1, 0, pytest.approx(16)), (0, 0, pytest.approx(16)),
    ]  # fmt: skip


LEFT_OUT: list[dict[str, str]] = [
    {"statistic": "floor"}, {"restriction": "grandfathered"}, {"restriction": "announced"},
    {"unit_price_type": "Contracted", "contract_id": "c"},
]  # fmt: skip
look_at(
    *(
        live(at, chip("2", of="Left"), *(chip(price, of="Left", **each) for each in LEFT_OUT))
        for at, price in ((0, "1"), (1, "3"))
    )
)


def test_left_out(seen: duckdb.DuckDBPyConnection) -> None:
    """Prices that not everybody pays, or nobody new can have, are in no index."""
    offers = seen.execute("select count(*) from core.offer where service_provider_name = 'Left'").fetchall()
    assert offers == [(5,)]
    assert of_provider(seen, "Left", "distinct n_items, price_index") == [(1, 100)]


look_at(*(live(at, chip("2", of="Euro", pricing_currency="EUR")) for at in (0, 1)))


def test_a_rate_of_exchange_is_no_move(seen: duckdb.DuckDBPyConnection) -> None:
    """Euros at an unmoved price: no drift, a level that moves with the rate, and no mix effect."""
    ((_, first, *_), (_, second, index, fx, mix)) = of_provider(
        seen, "Euro", "index_date, median_price_usd, price_index, currency_effect, mix_effect"
    )
    assert (first, second) == (pytest.approx(2.2), pytest.approx(2.4))
    assert index == 100
    assert fx == pytest.approx(0.0870113769896)
    assert mix == pytest.approx(0, abs=1e-12)


look_at(
    *(live(at, chip("2", of="No rate"), chip(price, of="No rate", region_id="x", pricing_currency="GBP"))
      for at, price in ((0, "4"), (1, "5")))
)  # fmt: skip


def test_without_a_rate_the_level_is_unknown_and_the_drift_is_not(seen: duckdb.DuckDBPyConnection) -> None:
    """Never a mean over the rest; the offer is counted."""
    found = of_provider(seen, "No rate", "index_date, n_without_usd, median_price_usd, mix_effect")
    assert found[-1][1:] == (1, None, None)
    assert indices(seen, "provider", service_provider_name="No rate")[-1] == pytest.approx(100 * 1.25**0.5)


look_at(
    live(0, chip("1", of="Mix")),
    live(1, chip("1", of="Mix"), chip("4", of="Mix", region_id="x")),
    live(2, chip("1", of="Mix")),
)


def test_what_comes_is_mix_and_not_drift(seen: duckdb.DuckDBPyConnection) -> None:
    """A dear offer beside a cheap one doubles the geometric mean and drifts nothing; drift() says both."""
    found = seen.execute(
        f"select drift, level_change, exp(mix_effect), n_new, n_items_before, n_items_after, is_thin "
        f"from mart.drift(date '{on(0)}', date '{on(1)}') where service_provider_name = 'Mix'"
    ).fetchall()
    assert found == [(0, pytest.approx(1), pytest.approx(2), 1, 1, 2, True)]


look_at(*(live(at, chip(price, of="Broken", **RESERVED), archived=False) for at, price in ((0, "2"), (20, "3"))))


def test_drift_over_a_broken_chain_is_unknown(seen: duckdb.DuckDBPyConnection) -> None:
    """An index of one chain is never compared with that of another, of a provider, a chip and the whole option."""
    drift = f"select drift, n_new from mart.drift('{on(0)}', '{on(20)}') where purchase_option = 'reserved'"
    assert seen.execute(drift).fetchall() == [(None, 1)] * 3


def test_outliers_of_a_market_are_cut_and_their_return_is_none() -> None:
    """Four move by some per cent, one tenfold and back: it moves nothing, on neither day."""
    prices: dict[Offer, list[float | None]] = {
        ("m", "H100", n): [1.0, 1.0 + n / 100, 1.0 + n / 100] for n in range(1, 5)
    }
    prices["m", "H100", 5] = [1.0, 10.0, 1.0]
    with panels() as con:
        con.execute(
            "create or replace view int.price_move as select offer_id, valid_from as observed_at, 'market_move' as "
            "change_kind, unit_price as effective_hourly_price_before, unit_price as effective_hourly_price_after "
            "from int.price_history"
        )
        load_panel(con, prices)
        found = series(con, "index_date, price_index, n_cut", "provider")
    by_hand = 100 * (1.01 * 1.02 * 1.03 * 1.04) ** (1 / 4)
    assert found[1][1:] == (pytest.approx(by_hand), 1)
    assert found[2][1:] == (pytest.approx(by_hand), 0)


def test_of_a_list_the_restless_moves_alone_are_judged(con: duckdb.DuckDBPyConnection) -> None:
    """Five lists move four times within four days: the outlier of the second move is cut, and none weeks later."""

    def shown(at: int) -> list[Row]:
        outlier = {2: 1.6, 40: 1.5}
        prices = [2 + min(at, 4) / 100] * 5
        for moved_at in (2, 40):
            if at >= moved_at:
                shares = (1.01, 1.02, 1.03, 1.04, outlier[moved_at])
                prices = [price * share for price, share in zip(prices, shares, strict=True)]
        return [chip(f"{price:.4f}", region_id=f"r{number}") for number, price in enumerate(prices)]

    put(con, *(live(at, *shown(at)) for at in (*range(5), 11, 18, 25, 32, 39, 40)), at=40.5)
    found = {str(at): (n_cut, n_moved) for at, n_cut, n_moved in series(con, "index_date, n_cut, n_moved", "provider")}
    assert {at: counts for at, counts in found.items() if any(counts)} == {
        on(1): (0, 5), on(2): (1, 4), on(3): (0, 5), on(4): (0, 5), on(40): (0, 5)
    }  # fmt: skip


def test_administered_spot_has_no_volatility(con: duckdb.DuckDBPyConnection) -> None:
    """Half of on-demand for each chip is a desk's decision; another share for one chip is not."""

    def shown(provider: str, share: float, price: float) -> list[Row]:
        plain = {"service_provider_name": provider}
        return [
            chip(f"{price}", **plain), chip("4", "H200", **plain),
            chip(f"{price / 2}", purchase_option="spot", **plain),
            chip(f"{4 * share}", "H200", purchase_option="spot", **plain),
        ]  # fmt: skip

    rows = [
        each | {"observed_at": day(at).replace(tzinfo=None), "observed_at_utc": day(at).isoformat()}
        for at in range(25)
        for each in (*shown("desk", 0.5, 2 + at % 2), *shown("market", 0.4, 2 + at % 2))
    ]
    put(con, live(24.4, *rows, complete=False, archived=True), at=24.5)
    found = con.execute(
        "select distinct service_provider_name, is_administered, volatility_30d is null from int.price_index "
        f"where purchase_option = 'spot' and accelerator_name = 'H100' and index_date = '{on(24)}' "
        "and index_level = 'provider' order by all"
    ).fetchall()
    assert found == [("desk", True, True), ("market", False, False)]
