"""The registry of sources: what is in the folder is registered, documented, and of one shape."""

import re
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import duckdb
import pytest
from scripts import script

from extract import SOURCES, base, source_named
from extract.web.interface import Response
from flows.collect.publisher import source_rows
from warehouse.errors import CredentialsMissing, SourceError

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("extract", "extract.aws", "extract.catalogues", "extract.neoclouds")
KEY_NAME = re.compile(r"[A-Z][A-Z0-9]*_(?:API_)?(?:KEY|TOKEN)")
NOT_SOURCES = {
    "extract": {"aws", "base", "benchmarks", "catalogues", "neoclouds", "observations", "web"},
    "extract.aws": {"bulk", "client", "places", "reading", "spot_records"},
    "extract.neoclouds": {"answers", "fetching", "offers", "pages"},
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


PRECEDENCE_TYPED_BY_HAND = {
    "aws_price_list": 10,
    "aws_spot": 11,
    "aws_capacity_blocks": 12,
    "aws_savings_plans": 20,
    "aws_capacity_block_rates": 30,
    "aws_spot_feed": 40,
    "offline_archive": 50,
    "price_archive": 60,
    "aws_instance_types": 90,
    "ecb_rates": 95,
    "spheron": 201,
    "vultr": 202,
    "scaleway": 203,
    "verda": 204,
    "lambda": 205,
    "nebius": 206,
    "coreweave": 207,
    "crusoe": 208,
    "hyperstack": 209,
    "together": 210,
    "ovh": 211,
    "digitalocean": 212,
    "voltagepark": 213,
    "hyperbolic": 214,
    "massedcompute": 215,
    "hotaisle": 216,
    "lium": 217,
    "shadeform": 218,
    "runpod": 219,
    "vast": 220,
    "jarvislabs": 221,
    "skypilot_catalog": 230,
    "gpuhunt": 231,
}
"""The numbers of 2026.11, when each source had one of its own."""


def test_precedence_is_the_order_of_the_registry():
    """Of two sources that price one offer the same one wins as before; imports come last, and no two are level."""
    with duckdb.connect() as con:
        con.execute("create schema core; create table core.scope_run as select 'import:a' as source")
        precedence = {row[0]: row[4] for row in source_rows(con, SOURCES)}
    assert len(set(precedence.values())) == len(SOURCES) + 1
    assert max(precedence, key=precedence.__getitem__) == "import:a"
    before = sorted(PRECEDENCE_TYPED_BY_HAND, key=PRECEDENCE_TYPED_BY_HAND.__getitem__)
    assert sorted(PRECEDENCE_TYPED_BY_HAND, key=precedence.__getitem__) == before


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_is_documented(source: base.Source):
    """Each has an address and terms, numbered quirks in its module, and the keys that it reads in `credentials`."""
    module = import_module(modules()[source.name])
    keys = {value for value in vars(module).values() if isinstance(value, str) and KEY_NAME.fullmatch(value)}
    assert [key for key in keys if f"`{key}`" not in source.credentials] == []
    assert source.url.startswith("https://")
    assert source.terms_url.startswith("https://")
    assert re.search(r"^1\. ", module.__doc__ or "", flags=re.MULTILINE)
    assert source is source_named(source.name)


def test_the_page_of_sources_is_the_registry():
    """The docs site has a row for each source, in the order of precedence, with a reason for each that is off."""
    page = script("tools/docs_site.py").generated()["sources.md"]
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| [`")]
    names = [cells[0].partition("`")[2].partition("`")[0] for cells in rows]
    assert names == [source.name for source in SOURCES]
    off = {name for name, cells in zip(names, rows, strict=True) if cells[-1].strip(" |")}
    assert off == {source.name for source in SOURCES if source.off_because}
    assert any("pricing:GetProducts" in cells[4] for cells in rows)


@pytest.mark.parametrize(
    "source", [source for source in SOURCES if source.kind == "archive"], ids=lambda source: source.name
)
def test_an_archive_is_never_current(source: base.Source):
    """Prices of an archive have no max_age within which they would be called current."""
    assert source.max_age is None
    assert source.backfill is not None


class AnyPage:
    """A web on which every address leads to one page, or to a refusal."""

    def __init__(self, status: int = 200) -> None:
        self.status = status

    def get(self, url: str, **_: object) -> Response:
        if self.status != 200:
            raise SourceError("refused", source=url, field="status", value=self.status)
        return Response(url=url, body=b"<html></html>", status=200, content_type="text/html")


def context(web: AnyPage) -> base.Context:
    return base.Context(web=web, settings={}, now=lambda: datetime(2026, 11, 27, tzinfo=UTC))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["lambda", "vultr", "ovh", "digitalocean", "azure", "google_cloud", "ecb_rates"])
def test_a_scope_that_a_source_does_not_have_is_an_error(name: str):
    """`run --scope us-east-1` is for all sources: none lands its own prices under that name, or ends the command."""
    with pytest.raises(SourceError, match="no such scope") as raised:
        source_named(name).fetch(context(AnyPage()), "us-east-1")
    assert (raised.value.source, raised.value.field, raised.value.value) == (name, "scope", "us-east-1")


@pytest.mark.parametrize(("name", "variable", "status"), [
    ("google_cloud", "GOOGLE_API_KEY", 400), ("google_cloud", "GOOGLE_API_KEY", 403), ("jarvislabs", "JL_API_KEY", 401),
    ("shadeform", "SHADEFORM_API_KEY", 401),
])  # fmt: skip
def test_a_refused_key_is_named_by_its_variable(name: str, variable: str, status: int):
    """Google answers 400 to a key that is none."""
    with pytest.raises(CredentialsMissing, match=variable):
        source_named(name).fetch(context(AnyPage(status)), "all")
