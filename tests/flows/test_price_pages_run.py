"""A run that reads AWS's price list and the maps behind its price pages: which of them is believed."""

from datetime import UTC
from pathlib import Path

import duckdb
import pytest
from price_maps import Pages
from standin import aws
from test_collect_without_credentials import take_credentials_away

from extract import SOURCES
from extract.aws import price_pages
from extract.web import polite
from flows.collect import steps
from flows.config.settings import Settings

HELD = """
select h.source, h.unit_price::VARCHAR from int.price_history as h inner join core.offer as o using (offer_id)
where o.instance_type = 'g6f.large' and o.purchase_option = 'on_demand' and h.valid_to is null
"""


@pytest.mark.usefixtures("least_marts")
@pytest.mark.parametrize("n_days", [1, pytest.param(2, marks=pytest.mark.prove)])
def test_the_price_list_is_believed_although_the_maps_are_read_last(
    standin: aws.StandIn, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_days: int
) -> None:
    """0.2024 in the list, 0.202 in the maps, whose files take longer. At length the next day too."""
    take_credentials_away(monkeypatch, tmp_path)
    pages = Pages(shared / "data/aws2/aws_us_east_1_commitments_20260924.csv")
    pages.server.start()
    monkeypatch.setattr(price_pages, "ROOT", f"{pages.server.url}/")
    monkeypatch.setitem(polite.PAUSES_S, "127.0.0.1", 0.015)
    tables: dict[str, dict[str, object]] = {each.name: {"enabled": False} for each in SOURCES}
    tables["aws_price_list"] = {"bulk_url": standin.url, "regions": ["us-east-1"]}
    tables["aws_price_pages"] = {"enabled": True}

    for _day in range(n_days):
        summary = steps.run(Settings(data_dir=tmp_path, sources=tables))
        seen = {result.source: result.observed_at for result in summary.results}
        with duckdb.connect(str(tmp_path / "prices.duckdb"), read_only=True) as con:
            held = con.execute(HELD).fetchall()
            last = con.execute("select max(fetched_at) from core.document where source = 'aws_price_pages'").fetchall()

        assert held == [("aws_price_list", "0.2024000000")]
        assert seen["aws_price_pages"] < seen["aws_price_list"] < last[0][0].replace(tzinfo=UTC)
    pages.server.stop()
