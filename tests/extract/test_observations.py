"""Imports of observations: what a row becomes, and which rows their own collector takes back."""

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from extract import observations
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

HEADER = "observed_at_utc,provider,region,pricing,usd_per_hour,gpu,gpu_count,source,tier_raw,gpu_raw,flags"
DOUBTFUL = (
    "suspect_label_price_of_next_card", "suspect_tier_preemptible_as_on_demand", "suspect_label_nvl",
    "placeholder_community_price", "placeholder_or_mig_slice", "unit_unknown", "unit_mixed_row",
    "blended_tier_lowestPrice", "min_over_sizes_may_include_spot", "stale_carried_forward", "fx_converted_eur",
)  # fmt: skip
"""Flags of the neoclouds' history whose rows are no prices."""


def document(*rows: str, header: str = HEADER) -> Document:
    """Return a CSV of rows, each the price, source, tier, raw label and flags of eight H100 at Lambda."""
    lines = [f"2026-05-01T10:00:00Z,lambda,,on_demand,{row}" for row in rows]
    body = "\n".join([header, *lines]).encode()
    now = datetime(2026, 11, 21, tzinfo=UTC)
    return Document(source="import", scope="seen.csv", url="seen.csv", body=body, fetched_at=now)


def flags(text: str) -> str:
    return f"31.92,H100,8,me/prices,api,H100 SXM,{text}"


@pytest.mark.parametrize("flag", DOUBTFUL)
@pytest.mark.parametrize("text", ["{}", "cheapest_listed;{}", "{} ; api_price"])
def test_a_flagged_row_is_no_price_and_is_kept_with_its_flag(flag: str, text: str) -> None:
    """Also beside other flags; the rest of the file is read."""
    seen = document(flags(text.format(flag)), flags(""))
    assert {origin: len(rows) for origin, rows in observations.parse(seen).items()} == {"me/prices": 1}
    [(origin, rows)] = observations.flagged(seen).items()
    assert (origin, rows["flag"].to_list(), rows["unit_price"].to_list()) == ("me/prices", [flag], ["31.92"])


@pytest.mark.parametrize(
    "text",
    ["", "api_price", "no_capacity", "unit_fixed_instance_to_gpu", "label_fixed_was_H200", "form_factors_merged",
     "git_commit_date", "aggregator_getdeploying", "not_suspect_at_all"],
)  # fmt: skip
def test_other_flags_take_nothing_back(text: str) -> None:
    """What was repaired, or says where a price comes from, stays: also a price at which nothing was free."""
    seen = document(flags(text))
    assert observations.flagged(seen) == {}
    assert observations.parse(seen)["me/prices"]["statistic"].to_list() == ["price"]


def test_an_origin_of_flagged_rows_alone_has_no_prices() -> None:
    """Nothing of it is loaded as a price."""
    seen = document(flags("unit_unknown"), flags("unit_unknown"), flags("fx_converted_eur"))
    assert observations.parse(seen) == {}
    assert len(observations.flagged(seen)["me/prices"]) == 3


@pytest.mark.parametrize(
    ("text", "statistic"),
    [("median_of_offers", "median"), ("median_from_report", "median"), ("aggregator;median_of_offers", "median"),
     ("cheapest_listed", "floor"), ("cheapest_live_offer", "floor"), ("cheapest_listed;api_price", "floor"),
     ("unmedian_of_offers", "price")],
)  # fmt: skip
def test_the_middle_and_the_least_are_no_prices(text: str, statistic: str) -> None:
    """Each is a statistic of its own, so that it is never compared with a price."""
    assert observations.parse(document(flags(text)))["me/prices"]["statistic"].to_list() == [statistic]


def test_the_label_is_the_collectors_own_words() -> None:
    """The raw name identifies the chip, and a cautious reading stands in where there is none; the tier is kept."""
    rows = observations.parse(
        document("3,H100-SXM,1,me@abc,secure,NVIDIA H100 80GB HBM3,", "3,H100-SXM,1,me@def,Secure Cloud,,")
    )["me"]
    assert rows.select("accelerator_label", "accelerator_count", "tier").rows() == [
        ("NVIDIA H100 80GB HBM3", "1", "secure"),
        ("H100-SXM", "1", "Secure Cloud"),
    ]


def test_flagged_rows_have_the_columns_of_prices() -> None:
    """And the flag, so that they can be loaded beside them."""
    seen = document(flags("unit_unknown"), flags(""))
    prices, doubtful = observations.parse(seen)["me/prices"], observations.flagged(seen)["me/prices"]
    assert doubtful.drop("flag").schema == prices.schema
    assert doubtful.drop("flag").equals(prices)
    assert doubtful.schema["flag"] == pl.String


def test_flags_may_be_missing() -> None:
    """A file without the column has no doubtful rows; one without prices is no such file."""
    plain = document("3,H100,1", header="observed_at_utc,provider,region,pricing,usd_per_hour,gpu,gpu_count")
    assert observations.flagged(plain) == {}
    assert [len(rows) for rows in observations.parse(plain).values()] == [1]
    with pytest.raises(LayoutChanged, match="usd_per_hour"):
        observations.flagged(document("H100,1", header="observed_at_utc,provider,region,pricing,gpu,gpu_count"))


def test_every_doubtful_flag_is_documented() -> None:
    """docs/importing.md names the beginning of each, and no other in that table."""
    text = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    table = text.split("| why the row is no price |")[1].split("Other flags")[0]
    named = [word for line in table.splitlines()[2:] if line for word in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert named == list(observations.DOUBTFUL)


@pytest.mark.parametrize("cut", ["min_over_", "via_x;suspect", "s"])
def test_a_doubt_that_was_cut_short_with_its_file_is_one(cut: str) -> None:
    assert observations.parse(document(flags(cut))) == {}
    (kept,) = observations.flagged(document(flags(cut))).values()
    assert kept["unit_price"].to_list() == ["31.92"]


@pytest.mark.parametrize("nothing", ["nan", "NULL", "None", "n/a", "<NA>"])
def test_what_programs_write_for_nothing_is_no_machine(nothing: str) -> None:
    """Taken for an instance type it would put the chip's own label aside."""
    told = f"1.5,H100,8,me,,{nothing},,{nothing}"
    (rows,) = observations.parse(document(told, header=f"{HEADER},instance_type")).values()
    assert rows.select("instance_type", "accelerator_label", "accelerator_count").row(0) == (None, "H100", "8")
