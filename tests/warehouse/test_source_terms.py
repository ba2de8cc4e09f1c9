"""What each source's terms say decides what is collected, and is shown wherever sources are."""

from dataclasses import fields

import pytest
from click.testing import CliRunner

from extract import SOURCES, base
from flows.cli.main import main
from warehouse.reference import source_terms
from warehouse.reference.source_terms import SourceTerms, read_table, terms_of

FORBIDDEN = {
    "aws_spot_feed", "crusoe", "digitalocean", "hyperbolic", "runpod", "shadeform", "skypilot_catalog", "vast",
    "voltagepark",
}  # fmt: skip


def test_every_source_has_terms() -> None:
    """One row each, with an address; who judged and when where anybody did."""
    assert [row.source for row in read_table()] == sorted(source.name for source in SOURCES)
    for row in read_table():
        assert row.terms_url.startswith("https://")
        assert (row.source_url is None) == (row.accessed_on is None)
        if "no" in (row.may_fetch, row.redistributable):
            assert row.accessed_on, row.source


def test_what_the_terms_forbid_is_off_and_says_why() -> None:
    """Robots or publishing again, either; doubtful and unread ones are on."""
    assert {row.source for row in read_table() if row.forbids} == FORBIDDEN
    off = {source.name: source.off_because for source in SOURCES if source.off_because}
    assert off.keys() == FORBIDDEN | {"gpuhunt", "jarvislabs"}
    for name in FORBIDDEN:
        terms = terms_of(name)
        assert terms
        assert terms.reason in off[name]
        assert terms.terms_url in off[name]


@pytest.mark.parametrize(("fetch", "publish", "is_off"), [
    ("yes", "yes", False), ("doubt", None, False), (None, None, False), ("no", "yes", True), ("yes", "no", True),
])  # fmt: skip
def test_a_new_source_is_off_where_its_terms_forbid_it(
    monkeypatch: pytest.MonkeyPatch, fetch: str | None, publish: str | None, *, is_off: bool
) -> None:
    row = SourceTerms("north", False, fetch, publish, "As read.", "https://north.example/terms", None, None)
    monkeypatch.setattr(base, "terms_of", {"north": row}.get)
    model = next(source for source in SOURCES if source.name == "ovh")
    values = {each.name: getattr(model, each.name) for each in fields(model)}
    made = base.Source(**values | {"name": "north", "terms_url": "", "off_because": ""})

    assert bool(made.off_because) is is_off
    assert made.terms_url == "https://north.example/terms"


def test_a_word_that_is_none_of_the_three_is_refused() -> None:
    """The table is checked by `make references`, which names file, line, field and value."""

    class Table:
        name = "x.csv"

        def read_text(self, encoding: str) -> str:
            head = ",".join(SourceTerms._fields)
            return f"{head}\nnorth,false,perhaps,,As read.,https://north.example/terms,,\n"

    with pytest.raises(Exception, match="may_fetch"):
        source_terms.MODEL.read(Table())


def test_sources_are_listed_with_their_terms() -> None:
    """Unread is said, not left out."""
    listed = CliRunner().invoke(main, ["sources", "--json"]).output
    shown = CliRunner().invoke(main, ["sources"]).output

    assert '"source": "hotaisle"' in listed
    assert '"redistributable": "unread"' in listed
    assert "may_fetch" in shown
    assert "doubt" in shown
