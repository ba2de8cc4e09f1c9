"""What is JarvisLabs' own: its key, rows that name no workload, and texts where numbers could stand."""

import json
from pathlib import Path
from typing import Any

import pytest
from neoclouds.case import MOMENT, rows
from neoclouds.cases.jarvislabs import CASE

from extract.base import Context, Parsed
from extract.neoclouds import jarvislabs
from extract.web.interface import Response
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.errors import CredentialsMissing, LayoutChanged

KEY = "sk-example-0001"


class Web:
    """Remembers the headers that it is asked with."""

    def get(self, url: str, *, accept: str = "", headers: dict[str, str]) -> Response:
        self.headers = headers
        return Response(url=url, body=CASE.body, status=200, content_type="application/json")


def place(**changed: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CASE.body)["server_meta"][0]
    return found | changed


def read(*places: dict[str, Any]) -> Parsed:
    return CASE.parse(json.dumps({"server_meta": places}).encode())


def context(web: Any) -> Context:
    return Context(web=web, settings={}, now=lambda: MOMENT)


def test_the_key_is_sent_and_kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jarvislabs.KEY, KEY)
    web = Web()
    look = CASE.source.fetch(context(web), *CASE.source.scopes(context(web)))
    assert web.headers == {"Authorization": f"Bearer {KEY}"}
    assert KEY not in str(look)


def test_without_a_key_it_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run says so, and what would help; nothing failed."""
    monkeypatch.delenv(jarvislabs.KEY, raising=False)
    with pytest.raises(CredentialsMissing):
        CASE.source.scopes(context(Web()))
    with steps.open_run(Settings(data_dir=tmp_path)) as run:
        assert run.plan([CASE.source]) == []
    assert any("jarvislabs is left out" in note and jarvislabs.KEY in note for note in run.summary.notes)


def test_a_row_without_a_workload_is_a_machine() -> None:
    assert {row["tier"] for row in rows(read(place(workload_type=None)))} == {"vm"}


def test_a_price_of_nothing_is_none() -> None:
    found = read(place(spot_price=0))
    assert [row["purchase_option"] for row in rows(found)] == ["on_demand"]
    assert found.ignored == {"no spot price": 1}


@pytest.mark.parametrize(
    "changed",
    [
        {"workload_type": "serverless"}, {"currency": "INR"}, {"vram": 24}, {"vram": "0"}, {"spot_price": 0.45},
        {"price_per_hour": None}, {"price_per_minute": 0.01},
    ],
)  # fmt: skip
def test_what_was_never_seen_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(LayoutChanged):
        read(place(**changed))


def test_what_is_free_stands_beside_the_price() -> None:
    free = read(place(num_free_devices=0)).facts["availability"].select("purchase_option", "n_accelerators")
    assert free.rows() == [("on_demand", 0), ("spot", 2)]
