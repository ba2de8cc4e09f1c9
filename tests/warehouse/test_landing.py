"""The landing folder: bytes by hash, and a journal that survives a crash in the middle of a line."""

import gzip
import json
from pathlib import Path

import pytest
from looks import day

from warehouse.documents import Document, Look
from warehouse.errors import ChipledgerError
from warehouse.landing import Landing, stamp

BODY = b"instance_type,price\n" + b"p5.48xlarge,55.04\n" * 200


def document(body: bytes = BODY) -> Document:
    return Document(source="s", scope="a", url="https://x.test/a", body=body, fetched_at=day(0))


def record(landing: Landing, at: float, body: bytes = BODY) -> None:
    one = Look(source="s", scope="a", observed_at=day(at), complete=True, documents=(document(body),))
    landing.record_look(one, run_id=f"run {at}", recorded_at=day(at))


def bodies(path: Path) -> list[str]:
    return sorted(file.name for file in path.rglob("*.gz"))


def test_the_same_body_is_kept_once(tmp_path: Path) -> None:
    """Two looks at the same bytes share a file, named by their SHA-256; the journal has both looks."""
    landing = Landing(tmp_path)
    record(landing, 0)
    record(landing, 1)
    record(landing, 2, b"other")

    assert bodies(tmp_path) == sorted([f"{document().sha256}.gz", f"{document(b'other').sha256}.gz"])
    assert [entry.content["observed_at"] for entry in landing.entries()] == [stamp(day(at)) for at in range(3)]
    assert landing.body(document().sha256) == BODY


def test_a_look_comes_back_as_it_was_recorded(tmp_path: Path) -> None:
    """The journal and the body give the document again, to the last field."""
    landing = Landing(tmp_path)
    record(landing, 0)
    (entry,) = landing.entries()

    assert landing.document(entry.content, 0) == document()
    assert (entry.kind, entry.recorded_at, entry.end) == ("look", day(0), landing.journal.stat().st_size)


def place(path: Path) -> Path:
    return path / document().sha256[:2] / f"{document().sha256}.gz"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda file: file.unlink(), "missing or damaged"),
        (lambda file: file.write_bytes(b""), "does not match its hash"),
        (lambda file: file.write_bytes(file.read_bytes()[:-9]), "missing or damaged"),
        (lambda file: file.write_bytes(b"plain"), "missing or damaged"),
        (lambda file: file.write_bytes(file.read_bytes()[:20] + b"\xff" * 9), "damaged"),
        (lambda file: file.write_bytes(gzip.compress(b"another body")), "does not match its hash"),
    ],
)
def test_a_damaged_body_is_named(tmp_path: Path, damage: object, words: str) -> None:
    """Absent, empty, cut, overwritten or exchanged: the error says which file; fetched again, it is whole again."""
    landing = Landing(tmp_path)
    record(landing, 0)
    damage(place(tmp_path))

    with pytest.raises(ChipledgerError, match=words) as caught:
        landing.body(document().sha256)
    assert (caught.value.source, caught.value.value) == (str(place(tmp_path)), document().sha256)

    record(landing, 1)

    assert landing.body(document().sha256) == BODY


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_line_is_ignored_and_cut_off(tmp_path: Path, cut: int) -> None:
    """What a crash left of a line is no entry, and the next entry starts on a line of its own."""
    landing = Landing(tmp_path)
    record(landing, 0)
    record(landing, 1)
    torn = landing.journal.read_bytes()[:-cut]
    landing.journal.write_bytes(torn)

    assert [entry.recorded_at for entry in landing.entries()] == [day(0)]

    record(landing, 2)

    assert [entry.recorded_at for entry in landing.entries()] == [day(0), day(2)]
    assert all(json.loads(line) for line in landing.journal.read_bytes().splitlines())


def test_a_first_line_that_is_torn_leaves_an_empty_journal(tmp_path: Path) -> None:
    """A crash in the very first line is no different."""
    landing = Landing(tmp_path)
    landing.journal.write_bytes(b'{"kind": "lo')

    assert list(landing.entries()) == []

    record(landing, 0)

    assert [entry.recorded_at for entry in landing.entries()] == [day(0)]


@pytest.mark.parametrize("line", [b"{not json}", b"[]", b"7", b'{"kind": "look"}', b"\xff\xfe", b'{"kind": 1}'])
def test_an_unreadable_line_is_named(tmp_path: Path, line: bytes) -> None:
    """A whole line that cannot be read stops the reading, with its place; what stands before it can be read."""
    landing = Landing(tmp_path)
    record(landing, 0)
    start = landing.journal.stat().st_size
    landing.journal.write_bytes(landing.journal.read_bytes() + line + b"\n")
    entries = landing.entries()

    assert next(entries).recorded_at == day(0)
    with pytest.raises(ChipledgerError, match="unreadable line") as caught:
        next(entries)
    assert (caught.value.source, caught.value.value) == (str(landing.journal), str(start + len(line) + 1))


def test_entries_are_read_from_a_position(tmp_path: Path) -> None:
    """Reading goes on where it ended."""
    landing = Landing(tmp_path)
    record(landing, 0)
    (first,) = landing.entries()
    record(landing, 1)

    assert [entry.recorded_at for entry in landing.entries(first.end)] == [day(1)]


def test_times_without_a_zone_are_refused(tmp_path: Path) -> None:
    """A naive time cannot come into the journal."""
    with pytest.raises(ValueError, match="without a zone"):
        stamp(day(0).replace(tzinfo=None))
