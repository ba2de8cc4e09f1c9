"""The landing folder: bytes by hash, and a journal that survives a crash in the middle of a line."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from landing_places import BODY, Place, document, name_of, record
from looks import day

from warehouse.errors import ChipledgerError
from warehouse.landing.folder import Landing, stamp


def test_the_same_body_is_kept_once(place: Place) -> None:
    """Two looks at the same bytes share a file, named by their SHA-256; the journal has both looks."""
    landing = place.landing()
    record(landing, 0)
    record(landing, 1)
    record(landing, 2, b"other")

    assert [name for name in place.names() if name.endswith(".gz")] == sorted([name_of(), name_of(b"other")])
    assert [entry.content["observed_at"] for entry in landing.entries()] == [stamp(day(at)) for at in range(3)]
    assert landing.body(document().sha256) == BODY
    assert gzip.decompress(place.read(name_of())) == BODY


def test_a_look_comes_back_as_it_was_recorded(place: Place) -> None:
    """The journal and the body give the document again, to the last field."""
    landing = place.landing()
    record(landing, 0)
    (entry,) = landing.entries()
    end = 1 if place.is_bucket else landing.journal.file(landing.part).stat().st_size

    assert landing.document(entry.content, 0) == document()
    assert (entry.kind, entry.recorded_at, entry.end, entry.part) == ("look", day(0), end, "")


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        (lambda written: None, "missing or damaged"),
        (lambda written: b"", "does not match its hash"),
        (lambda written: written[:-9], "missing or damaged"),
        (lambda written: b"plain", "missing or damaged"),
        (lambda written: written[:20] + b"\xff" * 9, "damaged"),
        (lambda written: gzip.compress(b"another body"), "does not match its hash"),
    ],
)
def test_a_damaged_body_is_named(place: Place, damaged: Callable[[bytes], bytes | None], words: str) -> None:
    """Absent, empty, cut, overwritten or exchanged: the error says which file; fetched again, it is whole again."""
    landing = place.landing()
    record(landing, 0)
    place.write(name_of(), damaged(place.read(name_of())))

    with pytest.raises(ChipledgerError, match=words) as caught:
        landing.body(document().sha256)
    assert caught.value.source == f"{str(place.place).rstrip('/')}/{name_of()}"
    assert caught.value.value == document().sha256

    record(landing, 1)

    assert landing.body(document().sha256) == BODY


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_line_is_ignored_and_cut_off(tmp_path: Path, cut: int) -> None:
    """What a crash left of a line is no entry, and the next entry starts on a line of its own."""
    landing = Landing(tmp_path)
    record(landing, 0)
    record(landing, 1)
    torn = landing.journal.file(landing.part).read_bytes()[:-cut]
    landing.journal.file(landing.part).write_bytes(torn)

    assert [entry.recorded_at for entry in landing.entries()] == [day(0)]

    record(landing, 2)

    assert [entry.recorded_at for entry in landing.entries()] == [day(0), day(2)]
    assert all(json.loads(line) for line in landing.journal.file(landing.part).read_bytes().splitlines())


def test_a_first_line_that_is_torn_leaves_an_empty_journal(tmp_path: Path) -> None:
    """A crash in the very first line is no different."""
    landing = Landing(tmp_path)
    landing.journal.file(landing.part).write_bytes(b'{"kind": "lo')

    assert list(landing.entries()) == []

    record(landing, 0)

    assert [entry.recorded_at for entry in landing.entries()] == [day(0)]


@pytest.mark.parametrize("line", [b"{not json}", b"[]", b"7", b'{"kind": "look"}', b"\xff\xfe", b'{"kind": 1}'])
def test_an_unreadable_line_is_named(place: Place, line: bytes) -> None:
    """A whole line that cannot be read stops the reading, with its place; what stands before it can be read."""
    landing = place.landing()
    record(landing, 0)
    place.add_line(line + b"\n")
    entries = landing.entries()
    where = (
        (f"{place.place}journal/-/", 2)
        if place.is_bucket
        else (str(landing.journal.file(landing.part)), landing.journal.file(landing.part).stat().st_size)
    )

    assert next(entries).recorded_at == day(0)
    with pytest.raises(ChipledgerError, match="unreadable line") as caught:
        next(entries)
    assert (caught.value.source, caught.value.value) == (where[0], str(where[1]))


def test_entries_are_read_from_a_position(place: Place) -> None:
    """Reading goes on where it ended; whether there is more is told without reading it."""
    landing = place.landing()
    record(landing, 0)
    (first,) = landing.entries()
    beyond = landing.journal.is_beyond("", 0), landing.journal.is_beyond("", first.end)
    record(landing, 1)

    assert beyond == (True, False)
    assert landing.journal.is_beyond("", first.end)
    assert [entry.recorded_at for entry in landing.entries(first.end)] == [day(1)]


@pytest.mark.parametrize("part", ["", "w1"])
def test_a_journal_that_was_loaded_further_is_refused(place: Place, part: str) -> None:
    """Lost, it has less than was loaded: what is written to it would never be read, so neither reading goes on."""
    landing = place.landing(part)
    record(landing, 0)
    (first,) = landing.entries(part=part)
    for name in [name for name in place.names() if "journal" in name]:
        place.write(name, None)

    with pytest.raises(ChipledgerError, match="not the one that was loaded"):
        list(landing.entries(first.end, part))
    with pytest.raises(ChipledgerError, match="not the one that was loaded"):
        landing.journal.is_beyond(part, first.end)


def test_times_without_a_zone_are_refused(tmp_path: Path) -> None:
    """A naive time cannot come into the journal."""
    with pytest.raises(ValueError, match="without a zone"):
        stamp(day(0).replace(tzinfo=None))
