"""A fetch of a source with several addresses: of its documents the first that can be read holds, also in a rebuild."""

from dataclasses import replace
from pathlib import Path

import pytest
import toy_source
from looks import frame, row

from extract.base import Context, Parsed
from flows.collect import collector, ingest
from warehouse.documents import ScopeFetch
from warehouse.errors import LayoutChanged


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> toy_source.Toy:
    """Return a toy whose every fetch has a document that cannot be read before the one that can."""
    toy = toy_source.installed(monkeypatch, tmp_path)

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        found = toy.fetch(ctx, scope)
        spoilt = replace(found.documents[0], url="toy:first", body=b'{"prices": null}')
        return replace(found, documents=(spoilt, *found.documents), notes=("read from another address",))

    source = replace(toy.source(), fetch=fetch, other_urls=("toy:second",))
    monkeypatch.setattr(collector, "SOURCES", (source,))
    for module in (collector, ingest):
        monkeypatch.setattr(module, "source_named", {toy_source.TOY: source}.__getitem__)
    return toy


def test_the_first_document_that_can_be_read_holds(toy: toy_source.Toy) -> None:
    """Its prices stand under its own hash; the other one's bytes are kept."""
    summary = toy.learn(0, a={"p5.48xlarge": "55.04"})

    (result,) = summary.results
    assert (result.status, result.n_rows) == ("ok", 1)
    assert "toy a: read from another address" in summary.notes
    with toy_source.steps.open_run(toy.settings(), clock=toy.clock) as run:
        documents = run.con.execute("select url, document_sha256 from core.document order by url").fetchall()
        (of_scope,) = run.con.execute("select document_sha256 from core.scope_run").fetchall()
    assert [url for url, _ in documents] == ["toy:a", "toy:first"]
    assert of_scope == (documents[0][1],)


def test_none_that_can_be_read_is_a_failure(toy: toy_source.Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason of the first."""
    source = replace(ingest.source_named(toy_source.TOY), parse=refuse)
    monkeypatch.setattr(ingest, "source_named", {toy_source.TOY: source}.__getitem__)
    (result,) = toy.learn(0, a={"p5.48xlarge": "55.04"}).results

    assert result.status == "failed"
    assert "not what it was" in (result.error or "")


def refuse(document: object) -> Parsed:
    raise LayoutChanged("not what it was", source=toy_source.TOY, field="body", value="")


def test_what_the_row_gate_refuses_does_not_hold() -> None:
    """A fifth of the rows."""
    good = [row("p5.48xlarge", "55.04"), row("p4d.24xlarge", "21.96")]
    collector.check(Parsed(rows=frame(good * 3).drop("document_sha256")))
    with pytest.raises(LayoutChanged, match="1 of 3 rows"):
        collector.check(Parsed(rows=frame([*good, row("p3.2xlarge", "3 dollars")]).drop("document_sha256")))
