"""SECURITY.md promises what is tested, and its limits are those of the code."""

import importlib
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", TEXT)))
LIMITS = re.findall(r"\| (\S+)[^|]* \| `((?:extract|flows|warehouse)\.[\w.]+)\.([A-Z_]+)` \|", TEXT)


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda each: each.rpartition("/")[2])
def test_each_named_test_is_there(file: str, name: str) -> None:
    """Under its name, and not left out."""
    text = (ROOT / file).read_text(encoding="utf-8")
    assert f"\ndef {name}(" in text if name else "\ndef test_" in text
    assert not re.search(rf"mark\.(skip|xfail)\S*\ndef {name}\(", text)


@pytest.mark.parametrize(("value", "module", "name"), LIMITS, ids=lambda each: each)
def test_each_limit_is_the_one_that_holds(value: str, module: str, name: str) -> None:
    assert str(getattr(importlib.import_module(module), name)) == value


def test_promises_and_limits_are_found() -> None:
    """A table that is written otherwise is not a table without promises."""
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert len(rows) > 50
    assert len(LIMITS) == sum("`tests/" in line and re.search(r"\.[A-Z_]+` \|", line) is not None for line in rows) > 20


@pytest.mark.parametrize(
    ("base", "origin", "is_answered"),
    [
        ("http://127.0.0.1:8000", None, True),
        ("http://evil.example.com", None, False),
        ("http://127.0.0.1:8000", "http://evil.example.com", False),
    ],
)
def test_pages_of_other_sites_get_no_answer(base: str, origin: str | None, *, is_answered: bool) -> None:
    """Neither under a name that was made to lead here, nor from a page that is open in a browser here."""
    from starlette.testclient import TestClient

    from flows.read_api import server

    api = server.ReadApi(lambda: Path("none"), lambda: datetime.now(UTC))
    app = api.streamable_http_app(json_response=True, stateless_http=True, host="127.0.0.1")
    headers = {"Accept": "application/json, text/event-stream"} | ({"Origin": origin} if origin else {})
    with TestClient(app, base_url=base) as client:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        answer = client.post("/mcp", json=asked, headers=headers)
    assert (answer.status_code == 200) == is_answered
