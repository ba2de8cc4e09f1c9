"""The table of regions: each one that a big cloud has prices of lies in a country."""

from pathlib import Path

import duckdb

from warehouse.reference.prepared import REGIONS

CLOUDS = ("AWS", "Azure", "CoreWeave", "Google Cloud")


def test_every_region_with_a_price_has_a_country(offline_run: Path) -> None:
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        found = con.execute(
            "select distinct service_provider_name, region_id from core.offer "
            "where list_contains(?, service_provider_name) and region_id is not null",
            [list(CLOUDS)],
        ).fetchall()
    assert {name for name, _ in found} == set(CLOUDS)
    assert set(found) <= {(row["service_provider_name"], row["region_id"]) for row in REGIONS.read()}


def test_a_country_lies_in_one_continent() -> None:
    pairs = {(row["country"], row["continent"]) for row in REGIONS.read() if row["country"]}
    assert len(pairs) == len({country for country, _ in pairs})
    assert {country for country, continent in pairs if continent == "North America"} == {"CA", "MX", "US"}


def test_a_zone_of_scaleway_lies_in_the_country_that_it_names() -> None:
    zones = [row for row in REGIONS.read() if row["service_provider_name"] == "Scaleway"]
    assert {row["region_id"][:6]: row["country"] for row in zones} == {"fr-par": "FR", "nl-ams": "NL", "pl-waw": "PL"}
    assert {row["continent"] for row in zones} == {"Europe"}
