"""The registry of sources: what is in the folder is registered, documented, and of one shape."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from extract import SOURCES, base, source_named

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("extract", "extract.aws", "extract.catalogues", "extract.neoclouds")
NOT_SOURCES = {
    "extract": {"aws", "base", "benchmarks", "catalogues", "neoclouds", "observations", "web"},
    "extract.aws": {"bulk", "client", "line_buffer", "places"},
    "extract.neoclouds": {"answers", "fetching", "offers", "pages", "words"},
}


def modules() -> dict[str, str]:
    """Return the dotted names of the modules and packages that are sources, by the name of their source.

    A source has the name of its module, those of AWS with "aws_" before it; a name that Python or a library has takes
    a trailing underscore: lambda_, gpuhunt_.
    """
    return {
        ("aws_" if folder == "extract.aws" else "") + path.stem.rstrip("_"): f"{folder}.{path.stem}"
        for folder in FOLDERS
        for path in ROOT.joinpath(*folder.split(".")).iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists())
        and path.stem not in {"__init__"} | NOT_SOURCES.get(folder, set())
    }


def test_every_module_is_registered():
    """A source that is not in SOURCES would never be collected."""
    assert len(modules()) >= 2
    assert set(modules()) == {source.name for source in SOURCES}


def test_precedence_tells_all_sources_apart():
    """Where two sources overlap, one of them is believed."""
    assert len(SOURCES) == len({source.precedence for source in SOURCES})


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_is_documented(source: base.Source):
    """Each has a row in docs/sources.md, an address and terms, and numbered quirks in its module."""
    module = import_module(modules()[source.name])
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
