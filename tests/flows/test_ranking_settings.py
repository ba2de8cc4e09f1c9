"""[ranking]: up to which age a price is ranked, from the settings into the published file."""

import shutil
from pathlib import Path

import pytest
from few_marts import published_with
from published import query

from flows.collect import steps
from flows.config import settings
from flows.config.settings import Settings
from warehouse.errors import SettingsError

RANKED = "select count(*) from int.accelerator_hour_price where is_ranked and service_provider_name = 'AWS'"


@published_with("accelerator_hour_price", least=())
def test_the_limit_of_age_reaches_the_file(offline_run: Path, tmp_path: Path) -> None:
    """A longer limit ranks older prices; the file before, made with another, is not amended."""
    folder = tmp_path / "data"
    shutil.copytree(offline_run, folder)
    file = folder / "prices.duckdb"
    file.unlink()
    with steps.open_run(Settings(data_dir=folder)) as run:
        run.publisher.publish()
    ((few,),) = query(file, RANKED)
    chosen = Settings(data_dir=folder, ranking={"max_age_days": 20000, "marketplace_max_age_days": 7})
    with steps.open_run(chosen) as run:
        run.publisher.publish()
    assert query(file, "select ranked_days, marketplace_days from meta.build") == [(20000, 7)]
    ((many,),) = query(file, RANKED)
    assert many > few > 0


def test_a_wrong_limit_is_named(tmp_path: Path) -> None:
    """With what is allowed."""
    file = tmp_path / "chipledger.toml"
    file.write_text("[ranking]\nmax_age_days = 0\n")
    with pytest.raises(SettingsError, match=r"ranking\.max_age_days"):
        settings.read(file, environ={})
