"""The table of eight models by chip and way to buy, of a first run alone: each cell a cost, found again, or why not."""

import html
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from published import records

from reports import wording
from reports.pages import cost_page

CHIPS = {
    "Trainium1", "Trainium2", "Trainium3", "Inferentia2", "H100", "H200", "B200", "A100-80GB", "TPU-v5e", "TPU-v5p",
    "TPU-v6e", "TPU-v7", "Gaudi3",
}  # fmt: skip
"""The chips of the articles."""
TODAY = {"deepseek-r1", "gpt-oss-120b", "llama-3.3-70b", "llama-3.1-8b", "qwen3-235b-a22b", "qwen3-30b-a3b"}
OLD = {"llama-2-70b", "mixtral-8x7b", "mistral-7b", "gpt-3-175b"}
"""Models of before 2024."""

Row = dict[str, Any]


@pytest.fixture(scope="module")
def cells(file: Path) -> list[Row]:
    return records(file, "select * from int.model_token_cost order by point_rank")


def test_each_cell_is_a_cost_or_a_reason(cells: list[Row]) -> None:
    """Of eight models of today, each chip of the articles and each way to buy has one cell of either kind."""
    models = list(dict.fromkeys(cell["model_name"] for cell in cells))
    assert len(models) == 8
    assert {"deepseek-r1", "gpt-oss-120b", "llama-3.3-70b", "llama-3.1-8b", "qwen3-235b-a22b", "qwen3-30b-a3b"} <= {
        *models
    }
    assert not OLD & {*models}
    keys = Counter(
        (
            cell["model_name"],
            cell["accelerator_name"],
            *(cell[name] for name in ("option_kind", "place", "option_rank")),
        )
        for cell in cells
    )
    assert set(keys.values()) == {1}
    for model in models:
        for way in cost_page.WAYS:
            assert all((model, chip, *way[1:]) in keys for chip in CHIPS)
    for cell in cells:
        has_cost = cell["usd_per_million_output_tokens"] is not None
        assert has_cost == (cell["cost_basis"] in ("measured", "between two runs")), cell
        assert has_cost or re.match("unknown: .{8}", cell["cost_basis"]), cell
    assert sum(cell["usd_per_million_output_tokens"] is not None for cell in cells) > 150


def test_each_cost_is_its_price_over_its_rate(file: Path, cells: list[Row]) -> None:
    """The last price of the offer per chip and usable hour, by 3,600 times the rate of the run's point, is the cost."""
    prices = {
        row["offer_id"]: row for row in records(
            file,
            "select h.offer_id, o.commitment_term_hours as term, o.instance_type as machine, "
            "last(h.effective_hourly_price order by h.valid_from) "
            "/ any_value(u.accelerator_count)::double as usd from int.price_history as h inner join core.offer as o "
            "on h.offer_id = o.offer_id inner join core.offer_unit as u on h.offer_id = u.offer_id "
            "where o.pricing_currency = 'USD' group by all",
        )
    }  # fmt: skip
    rates = {
        (row["throughput_id"], row["accelerator_name"], row["interactivity"], round(rate, 6))
        for row in records(file, "select * from int.token_rate where reach in ('measured', 'between two runs')")
        if (rate := row["output_rate_per_paid_accelerator"])
    }
    speeds = {row["model_name"]: row["interactivity"] for row in records(file, "from int.model_point")}
    compared = 0
    for cell in cells:
        if not cell["usd_per_million_output_tokens"]:
            continue
        rate = cell["price_usd"] * 1e6 / 3600 / cell["usd_per_million_output_tokens"]
        key = cell["throughput_id"], cell["accelerator_name"], speeds[cell["model_name"]]
        assert any(key == one[:3] and rate == pytest.approx(one[3], rel=1e-6) for one in rates), cell
        price = prices.get(cell["offer_id"])
        if price and cell["price_kind"] == "price":
            lost = 1 if (price["machine"] or "").startswith("u-p6e-gb200") else 0.5
            usable = 1 - lost / (price["term"] or 24) if cell["purchase_option"] == "capacity_block" else 1
            assert cell["price_usd"] == pytest.approx(price["usd"] / usable, rel=1e-6), cell
            compared += 1
    assert compared > 150


def test_each_reason_is_true(file: Path, cells: list[Row]) -> None:
    """Where no price is told, none is known of that chip and way to buy; where no run, none at the model's point."""
    sold = {
        (row["accelerator_name"], kind, "AWS" if row["service_provider_name"] == "AWS" else "elsewhere")
        for row in records(file, "select * from int.cost_option where price_usd is not null")
        for kind in (
            (["plan", "one_year"] if row["commitment_class"] == "one_year" else ["plan"])
            if row["purchase_option"] in ("reserved", "savings_plan") else [row["purchase_option"]]
        )
    }  # fmt: skip
    measured = {
        (row["model_name"], row["accelerator_name"]) for row in records(
            file,
            "select distinct r.model_name, r.accelerator_name from int.token_rate as r inner join int.model_point as p "
            "on r.model_name = p.model_name and r.task = p.task and r.scenario = p.scenario "
            "and r.benchmark = p.benchmark and r.precision is not distinct from p.precision "
            "and r.decoding is not distinct from p.decoding and r.interactivity is not distinct from p.interactivity",
        )
    }  # fmt: skip
    last = records(
        file,
        "select max(last_good_at)::date as day, count(distinct source) as n from int.source_health "
        "where kind <> 'import'",
    )[0]
    told = Counter()
    for cell in cells:
        basis = cell["cost_basis"]
        told[basis.removeprefix("unknown: ").partition(",")[0]] += 1
        if basis.startswith("unknown: no price"):
            assert (cell["accelerator_name"], cell["option_kind"], cell["place"]) not in sold, cell
            assert f"last searched on {last['day']} in {last['n']} sources" in basis
        elif basis.startswith("unknown: no measured run"):
            assert (cell["model_name"], cell["accelerator_name"]) not in measured, cell
            assert re.search(r"last searched on 2026-11-\d\d in \d+ benchmarks", basis)
    assert told["no price"] > 500 < told["no measured run at a comparable point"]


def no_cost(table: str) -> dict[str, set[str]]:
    """Return the reasons of each chip that a table of the page names as without a cost."""
    (line,) = re.findall(r"No cost: (.*)\.</div>", table)
    told = re.findall(r"([^();]+) \(((?:[^()]|\([^()]*\))*)\)(?:; |$)", html.unescape(line))
    return {chip: set(why.split("; ")) for chips, why in told for chip in chips.split(", ")}


def test_the_page_shows_each_cell(offline_run: Path, cells: list[Row]) -> None:
    """Its cost, or a dash whose footnote is the reason; of a chip without any cost every reason in one line."""
    page = (offline_run / "reports" / "cost.html").read_text(encoding="utf-8")
    by_key = {
        (c["model_name"], c["accelerator_name"], c["option_kind"], c["place"], c["option_rank"]): c for c in cells
    }
    for model in dict.fromkeys(cell["model_name"] for cell in cells):
        start = page.index(f'id="t-{cost_page._anchor(model)}"')
        table = page[start : page.index("</table>", start)]
        notes = dict(re.findall(r"<sup>(\d+)</sup>\s*([^<]+)<", table[table.index("</tbody>") :]))
        shown = {
            html.unescape(chip): re.findall(r"<td[^>]*>(.*?)</td>", line, re.DOTALL)
            for chip, line in re.findall(r'<th scope="row" class="gt_stub">([^<]*)</th>(.*?)</tr>', table, re.DOTALL)
        }
        told = no_cost(table)
        assert shown.keys() | told.keys() >= CHIPS
        assert shown.keys().isdisjoint(told)
        for chip, why in told.items():
            of_chip = [by_key[(model, chip, *way)] for _, *way in cost_page.WAYS]
            assert why == {cell["cost_basis"].removeprefix("unknown: ") for cell in of_chip}
            assert not any(cell["usd_per_million_output_tokens"] for cell in of_chip)
        for chip, texts in shown.items():
            for (_, *way), text in zip(cost_page.WAYS, texts[: len(cost_page.WAYS)], strict=True):
                cell = by_key[(model, chip, *way)]
                if cost := cell["usd_per_million_output_tokens"]:
                    assert text.startswith(wording.significant(cost)), cell
                    assert wording.day(cell["last_observed_at"]) in text
                else:
                    number = re.search(r"<sup>(\d+)</sup>", text)
                    assert notes[number[1]].strip() == cell["cost_basis"].removeprefix("unknown: "), cell
