"""[ranking]: up to which age a price is ranked, from the settings into the published file."""

from pathlib import Path

import pytest
from few_marts import published_with
from published import query
from toy_source import installed

from flows.collect import steps
from flows.config import settings
from warehouse.errors import SettingsError

RANKED = "select instance_type from int.accelerator_hour_price where is_ranked order by all"


@published_with("accelerator_hour_price", least=())
def test_the_limit_of_age_reaches_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A longer limit ranks older prices; the file before, made with another, is not amended."""
    toy = installed(monkeypatch, tmp_path / "data")
    toy.learn(0, a={"p4d.24xlarge": "20"}, b={"p5.48xlarge": "40"})
    toy.learn(400, a=None)
    chosen = toy.settings().replace(ranking={"max_age_days": 20000, "marketplace_max_age_days": 7})
    for of_run, ranked in ((toy.settings(), [("p5.48xlarge",)]), (chosen, [("p4d.24xlarge",), ("p5.48xlarge",)])):
        with steps.open_run(of_run, clock=toy.clock) as run:
            file = run.publisher.publish()
        assert query(file, RANKED) == ranked
    assert query(file, "select ranked_days, marketplace_days from meta.build") == [(20000, 7)]


def test_a_wrong_limit_is_named(tmp_path: Path) -> None:
    """With what is allowed."""
    file = tmp_path / "chipledger.toml"
    file.write_text("[ranking]\nmax_age_days = 0\n")
    with pytest.raises(SettingsError, match=r"ranking\.max_age_days"):
        settings.read(file, environ={})
