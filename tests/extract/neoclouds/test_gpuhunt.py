"""gpuhunt itself, against a site on this machine: what it gives is marked as its own, and its silence is an error."""

import importlib.util
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from importlib import metadata
from typing import Any

import gpuhunt.providers.daytona
import gpuhunt.providers.seeweb
import pytest
import requests
from gpuhunt_answers import CLOUDRIFT, DAYTONA, PATHS, SEEWEB
from neoclouds.case import rows
from web_site import Site, open_site, send

from extract.base import Context
from extract.catalogues import gpuhunt_
from extract.catalogues.gpuhunt_ import READ_HERE, SERVED, SOURCE
from extract.neoclouds import SOURCES
from extract.web.http import HttpWeb, Retries
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import CredentialsMissing, LayoutChanged, SourceError, Unavailable
from warehouse.log.gates import row_gate
from warehouse.reference.accelerators import resolve

NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
CONTEXT = Context(web=HttpWeb(retries=Retries(attempts=1)), settings={}, now=lambda: NOW)
VERSION = metadata.version("gpuhunt")


def answer(content: object, status: int = 200) -> Callable[[BaseHTTPRequestHandler], None]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()

    def give(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return give


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Return a site in the place of all three providers, with a key for the one that needs it."""
    site = Site()
    threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    for content, scope in (
        (DAYTONA, "daytona"),
        (SEEWEB, "seeweb"),
        (CLOUDRIFT, "cloudrift"),
    ):
        site.answers[PATHS[scope]] = [answer(content)]
    site.answers["/shared-regions"] = [answer([{"id": "us"}])]
    monkeypatch.setattr(gpuhunt.providers.daytona, "PRICING_URL", f"{site.url}/gpu-pricing")
    monkeypatch.setattr(gpuhunt.providers.seeweb, "API_URL", site.url)
    for name, value in {
        "DAYTONA_API_URL": site.url, "CLOUDRIFT_SERVER_ADDRESS": site.url,
        "SEEWEB_API_TOKEN": "sw-example-0001", "NO_PROXY": "127.0.0.1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("DAYTONA_API_KEY", raising=False)
    yield site
    site.server.shutdown()
    site.server.server_close()


def look(scope: str) -> ScopeFetch:
    return SOURCE.fetch(CONTEXT, scope)


def read(scope: str) -> list[dict[str, Any]]:
    (document,) = look(scope).documents
    parsed = SOURCE.parse(document)
    assert not row_gate(parsed.rows)[1]
    return rows(parsed)


def body_of(scope: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(look(scope).documents[0].body)
    return content


def parse(content: object) -> list[dict[str, Any]]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    document = Document(source=SOURCE.name, scope="daytona", url="gpuhunt:daytona", body=body, fetched_at=NOW)
    return rows(SOURCE.parse(document))


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("cloudrift", [("CloudRift", "rtx49-8c-nr.2", "RTX4090 24GB", "2", "0.78", "USD", "us-east-nc-nr-1")]),
        ("seeweb", [("Seeweb", "ECS2GPU3", "A100 80GB", "2", "1.98", "EUR", "it-fr2")]),
    ],
)  # fmt: skip
def test_what_gpuhunt_gives_is_read(scope: str, expected: list[tuple[str, ...]], site: Site):
    """Whole machines in the provider's words and currency, each marked with gpuhunt and its version."""
    found = read(scope)
    names = (
        "service_provider_name", "instance_type", "accelerator_label", "accelerator_count", "unit_price",
        "pricing_currency", "region_id",
    )  # fmt: skip

    assert [tuple(row[name] for name in names) for row in found] == expected
    assert {row["conditions"] for row in found} == {f"via gpuhunt {VERSION}"}
    assert {row["purchase_option"] for row in found} == {"on_demand"}
    assert all(resolve(row["accelerator_label"]) for row in found)


def test_daytona_is_a_sum_for_a_sandbox_of_gpuhunts_choice(site: Site):
    """3.95 + 8 x 0.0504 + 100 x 0.0162 + 256 x 0.000108 dollars, in no region; spot beside; CPUs are counted."""
    found = read("daytona")
    first = {row["purchase_option"]: row for row in found if row["instance_type"] == "1x-H100-8cpu-100gb-256gb"}

    assert {option: row["unit_price"] for option, row in first.items()} == {"on_demand": "6.000848", "spot": "3.455872"}
    assert not [row for row in found if "region_id" in row]
    assert {row["accelerator_label"] for row in found} == {"H100 80GB", "RTX-PRO-6000 96GB"}
    assert len(found) == 2 * 2 * 8
    (document,) = look("daytona").documents
    assert SOURCE.parse(document).ignored["without accelerators"] == 1


def test_the_document_is_what_gpuhunt_gave(site: Site):
    """JSON with the version, the objects and the warnings, so that it can be read again; no key stands in it."""
    found = look("seeweb")
    (document,) = found.documents
    content = json.loads(document.body)

    assert not found.complete
    assert (document.url, document.scope) == ("gpuhunt:seeweb", "seeweb")
    assert set(content) == {"gpuhunt", "provider", "items", "warnings"}
    assert content["gpuhunt"] == VERSION
    assert content["items"][0]["provider_data"] == {}
    assert b"sw-example-0001" not in document.body
    assert site.asked[-1].headers["X-APITOKEN"] == "sw-example-0001"


def test_what_gpuhunt_leaves_out_is_told(site: Site):
    """Its warnings come with the document, and a run shows them."""
    unknown = SEEWEB["plans"][0] | {"name": "ECS1GPU99", "gpu_label": "Z900 999GB"}
    site.answers["/plans"] = [answer({"plans": [*SEEWEB["plans"], unknown]})]
    (document,) = look("seeweb").documents

    parsed = SOURCE.parse(document)
    assert parsed.unknown == ("gpuhunt says: Skipping Seeweb plan ECS1GPU99: unknown gpu_label 'Z900 999GB'",)
    assert len(parsed.rows) == 1


@pytest.mark.parametrize(
    ("scope", "content"),
    [
        ("seeweb", {"plans": []}), ("cloudrift", {"data": {"instance_types": []}}), ("daytona", DAYTONA | {"gpus": []}),
        ("seeweb", {"plans": [SEEWEB["plans"][0] | {"gpu_label": "Z900"}]}),
    ],
)  # fmt: skip
def test_an_empty_list_is_no_answer(scope: str, content: object, site: Site):
    """gpuhunt returns [] or CPUs alone, and goes on; here it is an error with what gpuhunt said."""
    site.answers[PATHS[scope]] = [answer(content)]
    (document,) = look(scope).documents

    with pytest.raises(LayoutChanged, match="none with a chip") as raised:
        SOURCE.parse(document)
    if "Z900" in str(content):
        assert "unknown gpu_label" in raised.value.message


@pytest.mark.parametrize(
    ("content", "status", "error"),
    [
        ({}, 401, CredentialsMissing), ({}, 403, CredentialsMissing), ({}, 404, SourceError), ({}, 429, Unavailable),
        ({}, 503, Unavailable), (b"<html>Sign in</html>", 200, LayoutChanged), ([], 200, LayoutChanged),
        ({"plans": {}}, 200, LayoutChanged), ({"plans": None}, 200, LayoutChanged),
    ],
)  # fmt: skip
def test_each_failure_is_an_error_of_ours(content: object, status: int, error: type[SourceError], site: Site):
    """A key that was refused, a site that is down, an answer that gpuhunt cannot read."""
    site.answers["/plans"] = [answer(content, status)]
    with pytest.raises(SourceError) as raised:
        look("seeweb")
    assert type(raised.value) is error
    assert raised.value.source == ("gpuhunt" if error in (CredentialsMissing, LayoutChanged) else f"{site.url}/plans")
    assert "sw-example-0001" not in str(raised.value)


def test_a_site_that_is_not_there_is_unavailable(site: Site):
    """Trying again may help."""
    site.server.shutdown()
    site.server.server_close()
    with pytest.raises(Unavailable, match="no answer"):
        look("seeweb")


def test_it_asks_through_our_own_web(site: Site):
    """Whose bounds hold for it: here that of size; it says who asks, and gpuhunt's own client is back in its place."""
    look("seeweb")
    assert site.asked[-1].headers["User-Agent"].startswith("chipledger/")
    small = HttpWeb(get_limit_bytes=100, retries=Retries(attempts=1))
    with pytest.raises(SourceError, match="exceeds 100 bytes"):
        SOURCE.fetch(replace(CONTEXT, web=small), "seeweb")
    assert gpuhunt.providers.seeweb.requests is requests


def test_a_key_goes_to_nobody_else(site: Site):
    """A redirect to another host is an error, and that host is not asked."""
    with open_site() as other:
        site.answers["/plans"] = [send(status=302, Location=f"{other.url}/plans")]
        other.answers["/plans"] = [answer(SEEWEB)]
        with pytest.raises(SourceError, match="redirected elsewhere"):
            look("seeweb")
        assert other.asked == []


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("hourly_price", -1.5, "a negative number"),
        ("hourly_price", 0.00001, "no plain number: 1e-05"),
        ("hourly_price", "1,98", "hourly_price is no plain number: 1,98"),
        ("hourly_price", "-1.5", "no plain number"),
        ("gpu", "1/2", "gpu is no plain number"),
    ],
)
def test_an_amount_is_not_read_in_part(site: Site, field: str, value: object, told: str):
    """gpuhunt takes the first digits in it."""
    site.answers["/plans"] = [answer({"plans": [SEEWEB["plans"][0] | {field: value}]})]
    with pytest.raises(LayoutChanged, match=told):
        look("seeweb")


def test_providers_with_a_source_of_their_own_are_not_asked(site: Site):
    """gpuhunt's faults with Vultr, RunPod and Vast.ai cannot come in by this door."""
    for scope in (*READ_HERE, "gcp"):
        with pytest.raises(SourceError) as raised:
            look(scope)
        assert raised.value.field == "scope"
    assert not site.asked
    assert not set(SERVED) & {source.name for source in SOURCES}
    names = {"lambdalabs": "lambda", "vastai": "vast"}
    assert {names.get(scope, scope) for scope in READ_HERE} - {"aws"} <= {source.name for source in SOURCES}


def test_scopes_are_what_the_keys_allow(monkeypatch: pytest.MonkeyPatch):
    """Without keys the two that need none; a key that is missing is named."""
    monkeypatch.delenv("SEEWEB_API_TOKEN", raising=False)

    assert SOURCE.scopes(CONTEXT) == ("cloudrift", "daytona")
    with pytest.raises(CredentialsMissing, match="with a key only") as raised:
        look("seeweb")
    assert raised.value.field == "SEEWEB_API_TOKEN"
    monkeypatch.setenv("SEEWEB_API_TOKEN", "x")
    assert SOURCE.scopes(CONTEXT) == ("cloudrift", "daytona", "seeweb")


def test_without_the_extra_a_run_leaves_it_out(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """With a note that says how to install it; nothing else of the run is touched."""
    real = importlib.util.find_spec
    monkeypatch.setattr(gpuhunt_, "find_spec", lambda name: None if name == "gpuhunt" else real(name))
    with pytest.raises(CredentialsMissing, match="not installed"):
        look("daytona")
    settings = Settings(data_dir=tmp_path, sources={"gpuhunt": {"enabled": True}})
    with steps.open_run(settings, clock=lambda: NOW) as one:
        assert SOURCE in one.collector.sources()
        assert one.plan([SOURCE]) == []
        (note,) = one.summary.notes
    assert "uv sync --extra gpuhunt" in note


def test_it_is_off_unless_enabled(tmp_path):
    """A deployment decides whether it asks as gpuhunt does."""
    with steps.open_run(Settings(data_dir=tmp_path), clock=lambda: NOW) as one:
        assert SOURCE not in one.collector.sources()
    assert "robots.txt" in SOURCE.off_because


def harmed(content: dict[str, Any]) -> dict[str, object]:
    """Return a document harmed in each way, by name."""
    text = json.dumps(content)
    item = next(item for item in content["items"] if item["gpu_count"])
    found: dict[str, object] = {
        "nothing": b"", "null": b"null", "no object": b"{}", "no list": b"[]", "a page": b"<html></html>",
        "cut": text[: len(text) // 2].encode(), "cut at the end": text[:-2].encode(),
        "another provider": content | {"provider": "vultr", "items": [item | {"provider": "vultr"}]},
        "an item of another": content | {"items": [item | {"provider": "vultr"}]},
        "a text for a price": content | {"items": [item | {"price": "6.0"}]},
        "a negative price": content | {"items": [item | {"price": -1}]},
        "half a chip": content | {"items": [item | {"gpu_count": 0.5}]},
        "a price more": content | {"items": [item | {"price_eur": 1}]},
        "a number for a place": content | {"items": [item | {"location": 1}]},
        "prices of zero": content | {"items": [item | {"price": 0}]},
    }  # fmt: skip
    found |= {f"without {name}": {k: v for k, v in content.items() if k != name} for name in content}
    needed = ("provider", "price", "gpu_count", "gpu_memory", "location", "instance_name", "spot", "provider_data")
    return found | {
        f"an item without {name}": content | {"items": [{k: v for k, v in item.items() if k != name}]}
        for name in needed
    }


def test_another_document_is_refused(site: Site):
    """Never a row of one that is cut short or misses a field; the error says which."""
    for name, content in harmed(body_of("daytona")).items():
        with pytest.raises(LayoutChanged) as raised:
            pytest.fail(f"{name}: {parse(content)}")
        assert raised.value.field, name


def test_a_harmless_change_changes_nothing(site: Site):
    """Another order, another field, no indentation."""
    content = body_of("daytona")
    expected = parse(content)

    assert parse(content | {"items": [item | {"cpu_arch": "arm"} for item in content["items"]]}) == expected
    assert sorted(parse(content | {"items": content["items"][::-1]}), key=str) == sorted(expected, key=str)
