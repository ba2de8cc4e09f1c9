"""The drift report over the imported shared history, at dates of its own, beside plain Python.

Where prices are known on every day between, a drift is that of the chained index; else that of the offers themselves.
"""

import random
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from drift_in_python import Chains, drift, known_prices

from transform.models import MARTS
from warehouse.log.db import create_moment

CHIPS = ["H100", "A100-80GB", "L40S", "Trainium1"]
WINDOWS = (7, 30, 90, 365)
CLOSE = 1e-9


def moments() -> list[datetime]:
    """Return twenty moments of the history, the same in every run."""
    chosen = random.Random(20)  # noqa: S311
    early = [datetime(2023, 2, 1, 12) + timedelta(days=chosen.randrange(1100)) for _ in range(6)]  # noqa: DTZ001
    return sorted(early + [datetime(2026, 2, 5, 12) + timedelta(days=n) for n in chosen.sample(range(250), 14)])  # noqa: DTZ001


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.prove)])
def test_the_report_is_plain_python_at_twenty_dates(own_history: Path, every: int) -> None:
    """Every drift of every series and window, and each that is unknown is unknown there too; at three in short."""
    chains, prices = Chains(own_history, CHIPS), known_prices(own_history)
    sql = next(mart.sql for mart in MARTS if mart.name == "drift_report")
    n_rows = n_chained = n_matched = n_unknown = n_moved = 0
    for now in moments()[::every]:
        with duckdb.connect(str(own_history)) as con:
            con.execute("update meta.build set built_at = ?", [now])
            create_moment(con)
            rows = con.execute(
                "select index_level, service_provider_name, accelerator_name, purchase_option, window_days, drift, "
                f"drift_method, 1 / sparkline[1] - 1 from ({sql})"
            ).fetchall()
        matched = {days: drift(*prices, now, days) for days in WINDOWS}
        n_rows += len(rows)
        for level, provider, chip, option, days, told, method, drawn in rows:
            assert days != 90 or told is None or drawn == pytest.approx(told, abs=CLOSE)
            series = level, provider, chip, option
            if method == "chained":
                if chip not in CHIPS:
                    continue
                expected = chains.drift(series, (now - timedelta(days=days)).date(), now.date())
                n_chained += 1
            else:
                expected = matched[days].get(series)
                n_matched += told is not None
                n_unknown += told is None
                if level != "all" and chip in CHIPS and told is not None:
                    assert chains.drift(series, (now - timedelta(days=days)).date(), now.date()) is None
            assert (told is None) == (expected is None), (now, series, days, method)
            if told is not None:
                assert told == pytest.approx(expected, abs=CLOSE), (now, series, days, method)
                n_moved += abs(told) > CLOSE
    assert n_rows * every > 4000
    assert min(n_chained, n_matched, n_unknown, n_moved) * every > 200, (n_chained, n_matched, n_unknown, n_moved)


def test_one_price_moves_its_own_series_alone(own_history: Path) -> None:
    """A later price of one offer: its provider's drift is that move, its chip's its share; no other series changes."""
    sql = next(mart.sql for mart in MARTS if mart.name == "drift_report")
    keys = "index_level, service_provider_name, accelerator_name, purchase_option, window_days"
    read = f"select {keys}, drift from ({sql}) where drift_method = 'matched' or drift_method is null"
    with duckdb.connect(str(own_history)) as con:
        ((now,),) = con.execute(
            "select max(h.last_observed_at) from int.price_history as h join core.offer_unit as u using (offer_id) "
            "join int.price_index_item as i using (offer_id) where u.accelerator_name = 'L40S'"
        ).fetchall()
        con.execute("update meta.build set built_at = ?", [now])
        create_moment(con)
        before = {row[:5]: row[5] for row in con.execute(read).fetchall()}
        offer, provider, chip, option = con.execute(
            "select i.offer_id, o.service_provider_name, u.accelerator_name, o.purchase_option "
            "from int.price_index_item as i join core.offer as o using (offer_id) "
            "join core.offer_unit as u using (offer_id) join int.price_history as h using (offer_id) "
            "where h.valid_to is null and h.last_observed_at between ?::timestamp - interval 6 day and ? "
            "and u.accelerator_name = 'L40S' and h.effective_hourly_price > 0 order by i.offer_id limit 1",
            [now, now],
        ).fetchone()  # type: ignore[misc]
        con.execute("begin")
        con.execute("create temp table held as from log.price_link")
        con.execute("drop view log.price_link; create table log.price_link as from held")
        con.execute("create temp table moved as select offer_no from core.offer where offer_id = ?", [offer])
        con.execute(
            "insert into log.price_link by name select h.* replace (?::timestamp - interval 1 hour as valid_from, "
            "?::timestamp as last_observed_at, h.unit_price * 1.5 as unit_price) "
            "from log.price_link as h semi join moved using (offer_no) where h.valid_to is null",
            [now, now],
        )
        con.execute(
            "update log.price_link set valid_to = ?::timestamp - interval 1 hour "
            "where offer_no in (from moved) and valid_to is null and valid_from < ?::timestamp - interval 1 hour",
            [now, now],
        )
        after = {row[:5]: row[5] for row in con.execute(read).fetchall()}
        con.execute("rollback")
    changed = {key for key in before if before[key] != after.get(key)}
    allowed = {("provider", provider, chip, option), ("chip", None, chip, option), ("all", None, None, option)}
    assert changed
    assert {key[:4] for key in changed} <= allowed
    assert before.keys() == after.keys()


def test_what_is_only_held_has_not_stood_still(offline_run: Path) -> None:
    """A provider that nobody read in a window has no drift there, though its index goes on; one that was read has."""
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        rows = con.execute(
            "with seen as (select o.service_provider_name, u.accelerator_name, o.purchase_option, "
            "max(h.last_observed_at) as newest from int.price_history as h join core.offer as o using (offer_id) "
            "join core.offer_unit as u using (offer_id) group by all) "
            "select d.drift = 0, s.newest >= b.built_at - to_days(d.window_days) from int.drift_report as d "
            "join seen as s using (service_provider_name, accelerator_name, purchase_option) "
            "cross join meta.build as b where d.n_items_before is not null"
        ).fetchall()
    assert rows.count((True, False)) == 0
    assert rows.count((None, False)) > 100
    assert rows.count((True, True)) > 100
