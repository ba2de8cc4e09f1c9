"""The table of plans and spot of the first text, redone: each cell computed again from the public tables, in Python."""

import html
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import paging
import pytest
from few_marts import published_with
from published import records

from flows.collect import importer, steps
from flows.config.settings import Settings
from reports.pages import claims_page

CHIPS = ("H100", "H200", "B200", "Trainium1")
WAYS = {
    "On demand": ("on_demand", None), "1-year Savings Plan": ("savings_plan", 8760),
    "3-year Savings Plan": ("savings_plan", 26280), "1-year Reserved": ("reserved", 8760),
    "3-year Reserved": ("reserved", 26280), "Spot, lowest zone": ("spot", None), "Spot, highest zone": ("spot", None),
    "Capacity Block": ("capacity_block", None),
}  # fmt: skip
SAID = {
    "H100": ["12.29", "7.38", "5.54", None, None, "3.69", "3.69", None],
    "Trainium3": ["2.97", "1.78", "1.34", None, None, "0.89", "0.89", None],
}
"""What the text prints, by way to buy in the order of WAYS."""
NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
ASKED = (
    "option_saving", "throughput", "serving_rate", "training_rate", "cost_left_out", "serving_cost",
    "training_run_cost", "mart.price_now",
)  # fmt: skip
"""What the table and the audit of claims are made of."""

Row = dict[str, Any]


def text(cell: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", cell)).split())


def cells_of(page: str) -> dict[str, dict[str, str]]:
    """Return the cells as HTML by way to buy and column; a column of what the text says is named `<chip>: the text`."""
    table = page[page.index('id="savings"') :].partition("</table>")[0]
    heads = [text(each) for each in re.findall(r'<th[^>]*scope="col"[^>]*>(.*?)</th>', table, re.DOTALL)]
    body = table.partition("<tbody")[2]
    rows = [
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]
    return {text(row[0]): dict(zip(heads[1:], row[1:], strict=True)) for row in rows if len(row) == len(heads)}


def unseen(page: str) -> str | None:
    found = re.search(r'<p class="unseen">(.*?)</p>', page)
    return text(found[1]) if found else None


def chosen(file: Path) -> dict[tuple[str, str], Row]:
    """Return the offer of each chip and way, by plain loops over mart.price_now."""
    rows = [
        row for row in records(file, "from mart.price_now where service_provider_name = 'AWS' and is_ranked")
        if re.match(r"us-(?!gov|iso)", row["region_id"] or "") and not (row["instance_type"] or "ml.").startswith("ml.")
    ]  # fmt: skip
    price = "price_per_accelerator_hour_usd"
    found: dict[tuple[str, str], Row] = {}
    for chip in CHIPS:
        of_chip = [row for row in rows if row["accelerator_name"] == chip]
        east = [row for row in of_chip if row["purchase_option"] == "on_demand" and row["region_id"] == "us-east-1"]
        own = min(east, key=lambda row: (row[price], -row["accelerator_count"], row["instance_type"], row["offer_id"]))
        machine = [row for row in of_chip if row["instance_type"] == own["instance_type"]]
        for way, (option, hours) in WAYS.items():
            known = [
                row for row in machine
                if row["purchase_option"] == option and row["commitment_term_hours"] == hours
                and (option == "spot" or row["region_id"] == own["region_id"])
            ]  # fmt: skip
            if known:
                pick = max if way == "Spot, highest zone" else min
                sign = -1 if pick is max else 1
                best = pick(known, key=lambda row: (row[price], sign * row["offer_id"]))
                found[chip, way] = {**best, "saved": 1 - best[price] / own[price]}
    return found


@pytest.fixture(scope="module")
def page(file: Path) -> str:
    return (file.parent / "reports" / "claims.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def cells(page: str) -> Mapping[str, Mapping[str, str]]:
    return cells_of(page)


def test_every_cell(file: Path, cells: Mapping[str, Mapping[str, str]]) -> None:
    """Price, saving, day, kind of evidence, offer, and of spot the zone and the mean; or that it is not seen."""
    expected = chosen(file)
    assert tuple(cells) == tuple(WAYS)
    assert len(expected) >= 24
    seen = {
        row["offer_id"]: row["last_observed_at"]
        for row in records(file, "select offer_id, last_observed_at from mart.price_history where valid_to is null")
    }
    means = {
        row["offer_id"]: row["mean"]
        for row in records(file, "select offer_id, mean_price_per_accelerator_hour_30d as mean from mart.spot_zone")
    }
    for way, of_way in cells.items():
        for chip in CHIPS:
            cell, row = of_way[chip], expected.get((chip, way))
            if row is None:
                assert text(cell) == "not seen", (chip, way)
                continue
            offer = re.search(r'evidence.html#offer-(\d+)" data-offer-id="(\d+)"', cell)
            assert offer
            assert offer[1] == offer[2] == str(row["offer_id"]), (chip, way)
            words = text(cell)
            assert words.startswith(f"{row['price_per_accelerator_hour_usd']:,.2f} "), (chip, way)
            if way != "On demand":
                assert f" {abs(row['saved']) * 100:.1f} % {'less' if row['saved'] >= 0 else 'more'} " in words
            kind = {"provider_bytes": "the provider's own bytes", "transcribed": "transcribed"}[row["evidence_kind"]]
            day = seen[row["offer_id"]]
            assert words.endswith(f" {day.day} {day:%b %Y}, {kind}"), (chip, way)
            assert f" {row['availability_zone_id'] or row['region_id']}" in words
            if row["purchase_option"] == "spot":
                mean = means[row["offer_id"]]
                assert f" 30-day mean {'unknown' if mean is None else f'{mean:,.2f}'} " in words


def test_each_price_leads_to_its_document(file: Path, page: str) -> None:
    evidence = (file.parent / "reports" / "evidence.html").read_text(encoding="utf-8")
    offers = set(re.findall(r'data-offer-id="(\d+)"', page))
    assert len(offers) >= 20
    assert [offer for offer in offers if f'id="offer-{offer}"' not in evidence] == []


def test_what_the_text_says(cells: Mapping[str, Mapping[str, str]]) -> None:
    """Its own figures are in a column beside ours, each with its verdict and a link to it."""
    for chip, figures in SAID.items():
        shown = [of_way[f"{chip}: the text"] for of_way in cells.values()]
        assert [text(cell).split(" ")[0] if "<q>" in cell else None for cell in shown] == figures
        assert all(re.search(r'href="#c-S0-\d+"', cell) for cell in shown if "<q>" in cell)


def expected_line(file: Path) -> str:
    """Return the sentence on the chip without a price, counted from the log of what was fetched."""
    ((n, last),) = (
        tuple(row.values())
        for row in records(
            file,
            "select count(distinct (source, scope)), max(observed_at) from core.scope_run where status = 'ok' "
            "and not starts_with(source, 'import:')",
        )
    )
    return f"Trainium3: unknown, in none of {n} price lists, last searched {last.day} {last:%b %Y}."


def test_what_nobody_has_a_price_of(file: Path, page: str, cells: Mapping[str, Mapping[str, str]]) -> None:
    assert unseen(page) == expected_line(file)
    assert {text(of_way["Trainium3"]) for of_way in cells.values()} == {"unknown"}


@pytest.mark.prove
@pytest.mark.parametrize(("provider", "chip"), [("aws", "Trainium3"), ("verda", "Trainium3"), ("verda", "B200 SXM")])
def test_the_line_follows_what_was_fetched(offline_run: Path, tmp_path: Path, provider: str, chip: str) -> None:
    """An import is no search; a price of Trainium3 ends the sentence. A price moves its cell."""
    own = tmp_path / "data"
    shutil.copytree(offline_run, own)
    seen = tmp_path / "seen.csv"
    seen.write_text(
        "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type,gpu,gpu_count\n"
        f"2026-11-01T08:00:00Z,{provider},us-east-1,on_demand,3.33,,{chip},1\n"
        "2026-11-01T08:00:00Z,aws,us-east-1,on_demand,20.00,trn1.32xlarge,,\n"
    )
    with published_with(*ASKED, audit=True), steps.open_run(Settings(data_dir=own), clock=lambda: NOW) as one:
        importer.land(one, importer.landed(seen, one.clock()))
        one.finish(report=False)
    file = own / "prices.duckdb"
    page = paging.of(file, claims_page.render)
    cells = cells_of(page)
    if chip == "Trainium3":
        assert unseen(page) is None
        assert {text(of_way["Trainium3"]) for of_way in cells.values()} == {"not collected yet"}
    else:
        assert unseen(page) == expected_line(file)
        assert "last searched 15 Oct 2026" in expected_line(file)
    assert text(cells["On demand"]["Trainium1"]).startswith("1.25 ")
    assert "1 Nov 2026, transcribed" in text(cells["On demand"]["Trainium1"])
    plan = next(
        row for row in records(file, "from mart.price_now")
        if str(row["offer_id"]) in cells["1-year Savings Plan"]["Trainium1"]
    )  # fmt: skip
    saved = (1 - plan["price_per_accelerator_hour_usd"] / 1.25) * 100
    assert f" {saved:.1f} % less " in text(cells["1-year Savings Plan"]["Trainium1"])
