"""Documents that gpuhunt gave are still read; it is used no more."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from neoclouds.case import rows

from extract.base import Context
from extract.catalogues.gpuhunt_ import SOURCE
from extract.web.http import HttpWeb, Retries
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.documents import Document
from warehouse.errors import CredentialsMissing, LayoutChanged
from warehouse.log.gates import row_gate
from warehouse.reference.accelerators import resolve

NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
CONTEXT = Context(web=HttpWeb(retries=Retries(attempts=1)), settings={}, now=lambda: NOW)


def item(provider: str, name: str, place: str, price: float, gpu: str | None, memory: float, **more: object) -> object:
    """Return an object of gpuhunt 0.1.34, as its documents have it."""
    return {
        "cpu": 8, "cpu_arch": "x86", "disk_size": 256.0, "flags": [], "gpu_count": 2 if gpu else 0,
        "gpu_memory": memory, "gpu_name": gpu, "gpu_vendor": "nvidia", "instance_name": name, "location": place,
        "memory": 100.0, "price": price, "provider": provider, "provider_data": {}, "spot": False,
    } | more  # fmt: skip


BODIES: dict[str, dict[str, Any]] = {
    provider: {"gpuhunt": "0.1.34", "provider": provider, "warnings": [], "items": items}
    for provider, items in {
        "cloudrift": [item("cloudrift", "rtx49-8c-nr.2", "us-east-nc-nr-1", 0.78, "RTX4090", 24)],
        "seeweb": [item("seeweb", "ECS2GPU3", "it-fr2", 1.98, "A100", 80)],
        "daytona": [
            item("daytona", "1cpu-1gb-3gb", "us", 0.066924, None, 0, gpu_memory=None),
            item("daytona", "1x-H100-8cpu-100gb-256gb", "earth", 6.000848, "H100", 80, gpu_count=1),
            item("daytona", "1x-H100-8cpu-100gb-256gb", "earth", 3.455872, "H100", 80, gpu_count=1, spot=True),
            item("daytona", "2x", "earth", 10.2, "RTXPRO6000", 96, provider_data={"gpu_type": "RTX-PRO-6000"}),
        ],
    }.items()
}
"""Documents of November 2026: what gpuhunt 0.1.34 gave for figures of its providers."""


def document(content: object) -> Document:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Document(source=SOURCE.name, scope="daytona", url="gpuhunt:daytona", body=body, fetched_at=NOW)


def parse(content: object) -> list[dict[str, Any]]:
    parsed = SOURCE.parse(document(content))
    assert not row_gate(parsed.rows)[1]
    return rows(parsed)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("cloudrift", [("CloudRift", "rtx49-8c-nr.2", "RTX4090 24GB", "2", "0.78", "USD", "us-east-nc-nr-1")]),
        ("seeweb", [("Seeweb", "ECS2GPU3", "A100 80GB", "2", "1.98", "EUR", "it-fr2")]),
    ],
)  # fmt: skip
def test_what_gpuhunt_gave_is_read(scope: str, expected: list[tuple[str, ...]]):
    """Whole machines in the provider's words and currency, each marked with gpuhunt and its version."""
    found = parse(BODIES[scope])
    names = (
        "service_provider_name", "instance_type", "accelerator_label", "accelerator_count", "unit_price",
        "pricing_currency", "region_id",
    )  # fmt: skip

    assert [tuple(row[name] for name in names) for row in found] == expected
    assert {row["conditions"] for row in found} == {"via gpuhunt 0.1.34"}
    assert {row["purchase_option"] for row in found} == {"on_demand"}
    assert all(resolve(row["accelerator_label"]) for row in found)


def test_daytona_is_a_sum_for_a_sandbox_of_gpuhunts_choice():
    """3.95 + 8 x 0.0504 + 100 x 0.0162 + 256 x 0.000108 dollars, in no region; spot beside; CPUs are counted."""
    found = parse(BODIES["daytona"])
    first = {row["purchase_option"]: row for row in found if row["instance_type"] == "1x-H100-8cpu-100gb-256gb"}

    assert {option: row["unit_price"] for option, row in first.items()} == {"on_demand": "6.000848", "spot": "3.455872"}
    assert not [row for row in found if "region_id" in row]
    assert {row["accelerator_label"] for row in found} == {"H100 80GB", "RTX-PRO-6000 96GB"}
    assert SOURCE.parse(document(BODIES["daytona"])).ignored["without accelerators"] == 1


def test_what_gpuhunt_left_out_is_told():
    """Its warnings stand in the document; without an offer they are the error."""
    warned = BODIES["seeweb"] | {"warnings": ["Skipping Seeweb plan ECS1GPU99"]}
    assert SOURCE.parse(document(warned)).unknown == ("gpuhunt says: Skipping Seeweb plan ECS1GPU99",)
    with pytest.raises(LayoutChanged, match="ECS1GPU99"):
        parse(warned | {"items": []})


def test_it_is_used_no_more(tmp_path):
    """Off; where a deployment has it on, a run leaves it out with a note, and nothing else is touched."""
    with steps.open_run(Settings(data_dir=tmp_path / "off"), clock=lambda: NOW) as one:
        assert SOURCE not in one.collector.sources()
    for ask in (lambda: SOURCE.scopes(CONTEXT), lambda: SOURCE.fetch(CONTEXT, "seeweb")):
        with pytest.raises(CredentialsMissing, match="used no more"):
            ask()
    settings = Settings(data_dir=tmp_path / "on", sources={"gpuhunt": {"enabled": True}})
    with steps.open_run(settings, clock=lambda: NOW) as one:
        assert SOURCE in one.collector.sources()
        assert one.plan([SOURCE]) == []
        (note,) = one.summary.notes
    assert "Remove [sources.gpuhunt]" in note


def harmed(content: dict[str, Any]) -> dict[str, object]:
    """Return a document harmed in each way, by name."""
    text = json.dumps(content)
    one = next(item for item in content["items"] if item["gpu_count"])
    found: dict[str, object] = {
        "nothing": b"", "null": b"null", "no object": b"{}", "no list": b"[]", "a page": b"<html></html>",
        "cut": text[: len(text) // 2].encode(), "cut at the end": text[:-2].encode(),
        "another provider": content | {"provider": "vultr", "items": [one | {"provider": "vultr"}]},
        "an item of another": content | {"items": [one | {"provider": "vultr"}]},
        "a text for a price": content | {"items": [one | {"price": "6.0"}]},
        "a negative price": content | {"items": [one | {"price": -1}]},
        "half a chip": content | {"items": [one | {"gpu_count": 0.5}]},
        "a price more": content | {"items": [one | {"price_eur": 1}]},
        "a number for a place": content | {"items": [one | {"location": 1}]},
        "prices of zero": content | {"items": [one | {"price": 0}]},
    }  # fmt: skip
    found |= {f"without {name}": {k: v for k, v in content.items() if k != name} for name in content}
    needed = ("provider", "price", "gpu_count", "gpu_memory", "location", "instance_name", "spot", "provider_data")
    return found | {
        f"an item without {name}": content | {"items": [{k: v for k, v in one.items() if k != name}]} for name in needed
    }


def test_another_document_is_refused():
    """Never a row of one that is cut short or misses a field; the error says which."""
    for name, content in harmed(BODIES["daytona"]).items():
        with pytest.raises(LayoutChanged) as raised:
            pytest.fail(f"{name}: {parse(content)}")
        assert raised.value.field, name


def test_a_harmless_change_changes_nothing():
    """Another order, another field, no indentation."""
    content = BODIES["daytona"]
    expected = parse(content)

    assert parse(content | {"items": [item | {"cpu_arch": "arm"} for item in content["items"]]}) == expected
    assert sorted(parse(content | {"items": content["items"][::-1]}), key=str) == sorted(expected, key=str)
