"""Vultr's two scopes, the flags that say what is sold, and slices of a chip."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import refused, rows
from neoclouds.cases.vultr import CASE, answers

from extract.base import Context, Parsed
from extract.neoclouds.answers import PAGES
from extract.neoclouds.vultr import SOURCE
from extract.web.interface import Response
from warehouse.errors import LayoutChanged


class Pages:
    """A web that answers with the pages of the fixture."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get(self, url: str, **_: Any) -> Response:
        self.asked.append(url)
        body = answers(url)
        assert isinstance(body, bytes)
        return Response(url=url, body=body, status=200, content_type="application/json")


def look(web: Any, scope: str) -> bytes:
    context = Context(web=web, settings={}, now=lambda: datetime(2026, 11, 20, tzinfo=UTC))
    (found,) = SOURCE.fetch(context, scope).documents
    return found.body


def changed(machine: str, change: Callable[[dict[str, Any]], Any]) -> Parsed:
    """Return what is read after a change to a plan."""
    content = json.loads(CASE.body)
    for page in content[PAGES]:
        for plan in page.get("plans", page.get("plans_metal")):
            if plan["id"] == machine:
                change(plan)
    return CASE.parse(json.dumps(content).encode())


def of(machine: str, change: Callable[[dict[str, Any]], Any]) -> list[tuple[str, str, str]]:
    """Return option, price and label of a plan after a change to it."""
    found = rows(changed(machine, change))
    return [
        (row["purchase_option"], row["unit_price"], row["accelerator_label"])
        for row in found
        if row["instance_type"] == machine and "region_id" not in row
    ]


def without(*names: str) -> Callable[[dict[str, Any]], Any]:
    return lambda plan: [plan.pop(name) for name in names]


FLAGS = ("deploy_ondemand", "deploy_preemptible", "invoice_type")
A100, SLICE, H100, B200 = (
    "vcg-a100-12c-120g-80vram", "vcg-a100-1c-6g-4vram", "vbm-112c-2048gb-8-h100-gpu", "vbm-256c-3072gb-8-b200-gpu",
)  # fmt: skip


def test_a_scope_is_all_its_pages():
    """The cursor of one page asks for the next."""
    web = Pages()
    both = rows(CASE.parse(look(web, "plans"), "plans")) + rows(CASE.parse(look(web, "plans-metal"), "plans-metal"))
    assert both == CASE.expected
    assert [url.removeprefix("https://api.vultr.com/v2/") for url in web.asked] == [
        "plans?per_page=500&type=all", "plans?per_page=500&type=all&cursor=bmV4dF9fdmNnL2E%3D",
        "plans-metal?per_page=500",
    ]  # fmt: skip


def test_the_answer_of_one_scope_is_none_to_the_other():
    """Bare metal in place of plans would end every plan."""
    for body in (look(Pages(), "plans-metal"), CASE.body):
        with pytest.raises(LayoutChanged):
            CASE.parse(body, "plans")


def test_pages_that_are_missing_are_noticed():
    """One of two pages, and the second twice."""
    first, second, _ = json.loads(CASE.body)[PAGES]
    for body in (first, second, {PAGES: [second, first]}, {PAGES: [second, second]}):
        with pytest.raises(LayoutChanged):
            CASE.parse(json.dumps(body).encode(), "plans")


def test_what_is_not_sold_has_no_price():
    """Its cost stands there all the same."""
    assert of(B200, lambda plan: None) == [("spot", "25.6", "NVIDIA_B200")]
    assert of(B200, lambda plan: plan.update(deploy_ondemand=True, deploy_preemptible=False)) == [
        ("on_demand", "68", "NVIDIA_B200")
    ]


def test_answers_without_flags_have_the_prices_that_differ():
    """A preemptible cost like the other is that of a plan that is not sold so."""
    assert of(A100, without(*FLAGS)) == [
        ("on_demand", "2.397", "NVIDIA_A100 80 GB"), ("spot", "1.2", "NVIDIA_A100 80 GB"),
    ]  # fmt: skip
    assert of(SLICE, without(*FLAGS)) == [("on_demand", "0.123", "NVIDIA_A100 4 GB")]


@pytest.mark.parametrize("name", [*FLAGS[:2], "hourly_cost", "gpu_type", "gpu_vram_gb", "locations"])
def test_a_plan_without_one_of_its_fields_is_refused(name: str):
    """One flag alone says that the other was renamed; so does a cost for the month alone."""
    assert refused(lambda: changed(A100, without(name)))
    assert of(A100, without(name)) == []


def test_a_slice_is_never_a_chip():
    """Its memory stands in the label; of unknown size it is left out."""
    assert of(SLICE, lambda plan: None) == [("on_demand", "0.123", "NVIDIA_A100 4 GB")]
    assert of(SLICE, without("gpu_count")) == [("on_demand", "0.123", "NVIDIA_A100 4 GB")]
    assert of(SLICE, lambda plan: plan.update(gpu_vram_gb=0)) == []
    assert of(SLICE, lambda plan: plan.update(gpu_vram_gb=80)) == []


def test_chips_without_a_number_are_left_out():
    """192 GB of L40S are not one chip."""
    assert of("vcg-l40s-64c-720g-192vram", without("gpu_count")) == []
    assert of("vcg-l40s-16c-180g-48vram", without("gpu_count")) == [("on_demand", "1.671", "NVIDIA_L40S 48 GB")]


def test_dedicated_metal_is_read_by_its_name():
    """One A40 at 1.712; 1,536 GB of MI325X are several, whose number nobody says. Another type lacks its fields."""
    gone = without("gpu_type", "gpu_count", "gpu_vram_gb")

    def dedicated(machine: str) -> list[tuple[str, str, str]]:
        def change(plan: dict[str, Any]) -> None:
            gone(plan)
            plan.update(id=machine, type="vdm", hourly_cost=1.712, monthly_cost=1250, deploy_preemptible=False)

        found = changed(A100, change)
        assert not found.refused
        mine = [row for row in rows(found) if row["instance_type"] == machine and "region_id" not in row]
        return [(row["accelerator_label"], row["accelerator_count"], row["unit_price"]) for row in mine]

    assert dedicated("vcg-a40-24c-120g-48vram") == [("a40 48 GB", "1", "1.712")]
    assert dedicated("vcg-mi325x-252c-2872g-1536vram") == []
    assert refused(lambda: changed(A100, gone))


def test_bare_metal_is_read_by_its_name_where_it_has_no_fields():
    """As it was before there were fields."""
    assert of(H100, without("gpu_type", "gpu_count")) == [("on_demand", "23.92", "h100"), ("spot", "18.4", "h100")]
    assert refused(lambda: changed(H100, without("gpu_type")))
    assert refused(lambda: changed(H100, lambda plan: plan.update(id="vbm-112c-2048gb-4-h100-gpu")))


def test_a_place_with_its_own_cost_has_its_own_price():
    """All others have the plan's, which has no region, whether it is sold out there or not."""
    found = [row for row in rows(CASE.parse(CASE.body)) if row["instance_type"] == A100]
    assert [(row.get("region_id"), row["purchase_option"], row["unit_price"]) for row in found] == [
        (None, "on_demand", "2.397"), (None, "spot", "1.2"), ("sao", "on_demand", "2.876"), ("sao", "spot", "1.44"),
    ]  # fmt: skip


def test_places_are_told_as_listed():
    """An empty text among them is no place."""
    facts = CASE.parse(CASE.body).facts["availability"]
    a16 = facts.filter(facts["instance_type"] == "vcg-a16-2c-8g-2vram")
    assert a16.select("region_id", "stock_status").rows() == [("ewr", "listed"), ("sjc", "listed")]
    assert "vbm-64c-2048gb-8-l40-gpu" not in facts["instance_type"]
