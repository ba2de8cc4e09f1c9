"""The registry of sources: what is in the folder is registered, documented, and of one shape."""

import re
from pathlib import Path

import pytest

from extract import SOURCES, base, source_named

ROOT = Path(__file__).parent.parent.parent
NOT_SOURCES = {"__init__", "base", "http", "web", "observations", "archive", "aws_client", "aws_places", "aws_bulk"}


def modules() -> set[str]:
    """Return the names of the modules and packages under extract/ that are sources."""
    found = {
        path.stem for path in (ROOT / "extract").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    return found - NOT_SOURCES


def test_every_module_is_registered():
    """A source that is not in SOURCES would never be collected."""
    assert len(modules()) >= 2
    assert modules() == {source.name for source in SOURCES}


def test_precedence_tells_all_sources_apart():
    """Where two sources overlap, one of them is believed."""
    assert len(SOURCES) == len({source.precedence for source in SOURCES})


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_is_documented(source: base.Source):
    """Each has a row in docs/sources.md, an address and terms, and numbered quirks in its module."""
    module = __import__(f"extract.{source.name}", fromlist=["SOURCE"])
    assert f"`{source.name}`" in (ROOT / "docs" / "sources.md").read_text()
    assert source.url.startswith("https://")
    assert source.terms_url.startswith("https://")
    assert re.search(r"^1\. ", module.__doc__ or "", flags=re.MULTILINE)
    assert source is source_named(source.name)


@pytest.mark.parametrize(
    "source", [source for source in SOURCES if source.kind == "archive"], ids=lambda source: source.name
)
def test_an_archive_is_never_current(source: base.Source):
    """Prices of an archive have no max_age within which they would be called current."""
    assert source.max_age is None
    assert source.backfill is not None
