"""Rows of an import that their own collector flagged: kept with the flag, settled, and in no price."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from published import query

from flows.backup import replicas
from flows.collect import importer, steps
from flows.config.settings import Settings

pytestmark = pytest.mark.usefixtures("log_alone")

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
HEADER = "observed_at_utc,provider,region,pricing,usd_per_hour,gpu,gpu_count,source,flags\n"
SEEN = HEADER + (
    "2026-05-08T00:00:00Z,nebius,,on_demand,2.95,H100,1,me,\n"
    "2026-05-09T00:00:00Z,nebius,,on_demand,1.25,H100,1,me,suspect_tier_preemptible_as_on_demand\n"
    "2026-05-10T00:00:00Z,crusoe,,on_demand,4.29,GB200,1,you,suspect_label_price_of_next_card\n"
)


@pytest.mark.parametrize("times", [2, pytest.param(3, marks=pytest.mark.prove)], ids=["twice", "rebuilt"])
def test_flagged_rows_are_refused_for_good(tmp_path: Path, times: int) -> None:
    """The flag is the reason; nothing is left to settle; the price confirms nothing; twice is once, also rebuilt."""
    csv = tmp_path / "seen.csv"
    csv.write_text(SEEN)
    for number in range(times):
        clock = (lambda moment: lambda: moment)(NOW + timedelta(hours=number))
        if number < 2:
            with steps.open_run(Settings(data_dir=tmp_path), clock=clock) as run:
                importer.land(run, importer.landed(csv, run.clock()))
                run.load()
                told = importer.refused(run)
                run.finish(report=False)
            # What is known from the first time is counted a second time, without its reasons.
            assert told == ([
                "1 row refused: flagged by their collector: suspect_label_price_of_next_card",
                "1 row refused: flagged by their collector: suspect_tier_preemptible_as_on_demand",
            ] if not number else ["2 rows are in the quarantine already"])  # fmt: skip
        else:
            assert replicas.rebuild(Settings(data_dir=tmp_path), clock=clock).is_in_use
        file = tmp_path / "prices.duckdb"
        assert query(file, "select source, reason, decision, decided_by, observed_at::date::varchar "
                           "from core.quarantine order by all") == [
            ("import:me", "flagged by their collector: suspect_tier_preemptible_as_on_demand", "refuse",
             "its collector", "2026-05-09"),
            ("import:you", "flagged by their collector: suspect_label_price_of_next_card", "refuse",
             "its collector", "2026-05-10"),
        ]  # fmt: skip
        assert query(file, "select unit_price::double, last_observed_at::date::varchar from core.sku_price") == [
            (2.95, "2026-05-08")
        ]
    assert query(file, "select source, status, n_rows, n_refused from core.scope_run order by all") == [
        ("import:me", "ok", 1, 1), ("import:me", "ok", 1, 1),
        ("import:you", "empty", 0, 1), ("import:you", "empty", 0, 1),
    ]  # fmt: skip
