"""What one source of extract/neoclouds is tested with: its fixture, what it should give, and how to harm it.

A case is a module under tests/neoclouds/cases with `CASE`; the tests beside this file take every one of them. A fixture
is ours: in the provider's format, with real figures, whose origin its case names.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from extract.base import Parsed, Source
from warehouse.documents import Document
from warehouse.errors import LayoutChanged

HERE = Path(__file__).parent
MOMENT = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)

Answer = bytes | tuple[int, bytes]
"""What a stand-in answers: a body, or a status and a body."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One source under test.

    `fixture` is a file of tests/neoclouds/fixtures; `<stem>.expected.json` beside it lists its rows (columns of
    OBSERVATION that are not NULL). `origin` says where its figures are from. `samples` are captured documents under
    the shared data, by path, each with the rows expected of it (only the columns named are compared). `renamed` are
    texts of the fixture (column names, headers, headings) without which nothing may be read, `inserted` pairs of a text
    and what to put in its place so that a column or a field about money is new, `swapped` pairs of texts to exchange
    (headings, sections). `harmless` are edits, (text, replacement), that must change no row. `answers` gives what a
    loopback server answers by path and query, where it is not the fixture on every path.
    """

    source: Source
    fixture: str
    origin: str
    samples: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    renamed: tuple[str, ...] = ()
    inserted: tuple[tuple[str, str], ...] = ()
    swapped: tuple[tuple[str, str], ...] = ()
    harmless: tuple[tuple[str, str], ...] = ()
    answers: Callable[[str], Answer] | None = None

    @property
    def body(self) -> bytes:
        """Return the fixture."""
        return (HERE / "fixtures" / self.fixture).read_bytes()

    @property
    def expected(self) -> list[dict[str, Any]]:
        """Return the rows that the fixture should give, without their NULLs."""
        rows: list[dict[str, Any]] = json.loads(
            (HERE / "fixtures" / f"{Path(self.fixture).stem}.expected.json").read_text()
        )
        return rows

    @property
    def gaps(self) -> list[str]:
        """Return what the source lacks of what each must have: a fixture and its rows."""
        stem = HERE / "fixtures" / Path(self.fixture).stem
        wanted = {
            self.fixture: HERE / "fixtures" / self.fixture,
            f"{stem.name}.expected.json": Path(f"{stem}.expected.json"),
        }
        found = [name for name, path in wanted.items() if not path.is_file()]
        if not found and not self.expected:
            found = [f"{stem.name}.expected.json: no rows"]
        return found

    def parse(self, body: bytes, scope: str | None = None) -> Parsed:
        """Return what the source reads in a body."""
        return self.source.parse(document(self.source, body, scope))


def document(source: Source, body: bytes, scope: str | None = None) -> Document:
    """Return a body as a document of a source, fetched at MOMENT."""
    return Document(source=source.name, scope=scope or "all", url=source.url, body=body, fetched_at=MOMENT)


def rows(parsed: Parsed) -> list[dict[str, Any]]:
    """Return the rows of a parsed document without their NULLs, in order."""
    return [{k: v for k, v in row.items() if v is not None} for row in parsed.rows.iter_rows(named=True)]


def refused(read: Callable[[], Parsed]) -> str:
    """Return why a document is refused, whole or a row of it; fail where nothing of it is."""
    try:
        found = read()
    except LayoutChanged as error:
        return f"{error.message} {error.field}"
    assert found.refused, "nothing is refused"
    return " ".join(f"{one.reason} {one.field}" for one in found.refused)


def cases() -> list[Case]:
    """Return the case of every source, in the order of its file's name."""
    files = sorted(path.stem for path in (HERE / "cases").glob("*.py") if path.stem != "__init__")
    return [import_module(f"neoclouds.cases.{name}").CASE for name in files]
