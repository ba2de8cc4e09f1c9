"""What the published file has of the settings: up to which age a price is ranked, and which sources are on."""

from dataclasses import replace
from pathlib import Path

import pytest
from few_marts import published_with
from published import query
from toy_source import installed

from flows.collect import publisher, steps
from flows.config import settings
from flows.doctor import checks
from reports import queries
from warehouse.errors import SettingsError

RANKED = "select instance_type from int.accelerator_hour_price where is_ranked order by all"


@published_with("accelerator_hour_price", "source_health", least=())
def test_the_settings_reach_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer limit ranks older prices, and a source that is off is missed by nobody: alerts and mail name live ones.

    The file before, made with others, is not amended.
    """
    toy = installed(monkeypatch, tmp_path / "data")
    toy.learn(0, a={"p4d.24xlarge": "20"}, b={"p5.48xlarge": "40"})
    toy.learn(400, a=None)
    chosen = toy.settings().replace(ranking={"max_age_days": 20000, "marketplace_max_age_days": 7})
    monkeypatch.setattr(publisher, "SOURCES", (replace(toy.source(), off_because="its terms"),))
    for at, of_run, ranked, state in (
        (400, toy.settings(), [("p5.48xlarge",)], ("live", "stale")),  # it was fetched by its name
        (402, chosen, [("p4d.24xlarge",), ("p5.48xlarge",)], ("off", "archived")),
    ):
        toy.at = at
        with steps.open_run(of_run, clock=toy.clock) as run:
            file = run.publisher.publish()
        assert query(file, RANKED) == ranked
        assert query(file, f"select kind, state from ({queries.select('scope')}) where scope = 'a'") == [state]
    assert query(file, "select ranked_days, marketplace_days from meta.build") == [(20000, 7)]
    monkeypatch.setattr("extract.SOURCES", (toy.source(),))  # on again
    assert "prices of toy" in [row["check"] for row in checks.data_files(toy.settings(), toy.clock())]


def test_a_wrong_limit_is_named(tmp_path: Path) -> None:
    """With what is allowed."""
    file = tmp_path / "chipledger.toml"
    file.write_text("[ranking]\nmax_age_days = 0\n")
    with pytest.raises(SettingsError, match=r"ranking\.max_age_days"):
        settings.read(file, environ={})
