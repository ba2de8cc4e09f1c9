"""The journal's parts: one for each writing process, in a folder or a bucket, none of them in another's way."""

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from landing_places import BODY, Place, document, name_of, record, side_by_side
from looks import day

from warehouse.errors import ChipledgerError
from warehouse.landing.folder import Landing
from warehouse.landing.journal import lock_of, own_part


def told(landing: Landing, part: str, start: int = 0) -> list[tuple[object, int]]:
    return [(entry.recorded_at, entry.end) for entry in landing.entries(start, part)]


def test_parts_lie_apart_and_are_read_in_the_order_of_time(place: Place) -> None:
    """Each writer has a file, or a run of objects, of its own; together they read like one journal."""
    first, second, only = place.landing("w1"), place.landing("w2"), place.landing()
    for landing, at in ((first, 0), (second, 1), (only, 2), (first, 3), (second, 3)):
        record(landing, at)

    assert only.journal.parts() == ["", "w1", "w2"]
    assert [(entry.recorded_at, entry.part) for entry in only.entries()] == [
        (day(0), "w1"), (day(1), "w2"), (day(2), ""), (day(3), "w1"), (day(3), "w2"),
    ]  # fmt: skip
    assert [entry.recorded_at for entry in only.entries(part="")] == [day(2)]
    assert [name for name in place.names() if "journal" in name] == (
        [
            f"journal/{part}/{number:012}.jsonl"
            for part, n in (("-", 1), ("w1", 2), ("w2", 2))
            for number in range(1, n + 1)
        ]
        if place.is_bucket
        else ["journal.jsonl", "journal/w1.jsonl", "journal/w2.jsonl"]
    )


@pytest.mark.parametrize(
    "part", ["../w1", "a/b", "..", ".", "-", "-w1", "w 1", "w1\n", "w.1", "ẃ", "/etc/x", "a" * 81, "w1\x00"]
)
def test_a_part_whose_name_leads_elsewhere_is_refused(place: Place, part: str) -> None:
    """Neither written nor read: a name is letters, digits, - and _."""
    with pytest.raises(ChipledgerError, match="not the name of a part"):
        place.landing(part)
    for read in (lambda: list(place.landing().entries(part=part)), lambda: place.landing().journal.is_beyond(part, 0)):
        with pytest.raises(ChipledgerError, match="not the name of a part"):
            read()


@pytest.mark.parametrize("place", ["folder", pytest.param("bucket", marks=pytest.mark.prove)], indirect=True)
def test_many_processes_land_the_same_bodies_in_their_own_parts(place: Place) -> None:
    """Four at once, the same bodies at the same time: every look is in its part, every body there once and whole."""
    parts = ["w1", "w2", "w3", "w4"]
    side_by_side(place, parts, n_looks=5)
    landing = place.landing()

    assert landing.journal.parts() == parts
    for part in parts:
        assert [entry.recorded_at for entry in landing.entries(part=part)] == [day(at) for at in range(5)]
    bodies = [BODY * (number + 1) for number in range(5)]
    assert [landing.body(document(body).sha256) for body in bodies] == bodies
    assert sorted(name for name in place.names() if "journal" not in name) == sorted(map(name_of, bodies))


def test_the_id_of_a_history_never_changes(place: Place) -> None:
    """It is the hash of the first line of the first part: what others land, or the first lands later, changes nothing.

    A landing that nobody but a second writer has written to has none yet; an empty one has none.
    """
    landing = place.landing()
    assert landing.history() is None
    record(place.landing("w2"), 0)
    assert landing.history() is None
    record(place.landing("w1"), 1)
    ((first, _),) = landing.journal.lines("w1", 0)
    found = landing.history()
    assert found == (hashlib.sha256(first.rstrip(b"\n")).hexdigest(), day(1))

    for part in ("w1", "w2", ""):  # the last as in a file made of a lake
        record(place.landing(part), 2)
    assert place.landing("w3").history() == found


def test_a_part_is_taken_that_nobody_holds_and_that_is_loaded(place: Place) -> None:
    """Parts are used again, so that they stay few; one that a killed writer left with unloaded looks is passed over."""
    record(place.landing("w1"), 0)
    record(place.landing("w2"), 1)
    landing = place.landing()
    asked: list[str] = []
    (loaded,) = [entry.end for entry in landing.entries(part="w2")]

    @contextmanager
    def try_lock(name: str) -> Iterator[bool]:
        asked.append(name)
        yield name != lock_of("w3")

    with own_part(landing.journal, {"w2": loaded}, try_lock) as part:
        assert part == "w2"
    with own_part(landing.journal, {}, try_lock) as part:
        assert part == "w4"
    assert asked == [lock_of(part) for part in ("w2", "w3", "w4")]


def test_a_part_that_was_written_before_it_was_taken_is_left_alone(tmp_path: Path) -> None:
    """Between the look at it and its lock another took it, wrote and died: the next part is taken, its lock alone."""
    held: list[str] = []

    @contextmanager
    def try_lock(name: str) -> Iterator[bool]:
        if name == lock_of("w1"):
            record(Landing(tmp_path, part="w1"), 0)
        held.append(name)
        yield True
        held.remove(name)

    with own_part(Landing(tmp_path).journal, {}, try_lock) as part:
        assert (part, held) == ("w2", [lock_of("w2")])
    assert held == []


def test_a_torn_line_of_a_part_is_cut_off_by_its_next_writer(tmp_path: Path) -> None:
    """As in the journal of one writer: the line that a killed one left half written is none."""
    record(Landing(tmp_path, part="w1"), 0)
    journal = tmp_path / "journal/w1.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"kind": "lo')
    landing = Landing(tmp_path, part="w1")

    assert told(landing, "w1") == [(day(0), len(whole))]

    record(landing, 1)

    assert [at for at, _ in told(landing, "w1")] == [day(0), day(1)]


def test_what_another_writer_writes_now_is_left_alone(tmp_path: Path) -> None:
    """Of part files the only writer removes all; one of several its own, and those that are a day old."""
    names = ["a.w1.7.part", "a.w2.7.part", "b.w2.7.part"]
    landing = Landing(tmp_path, part="w1")
    for name in names:
        (tmp_path / name).touch()
    long_ago = time.time() - 2 * 86_400
    os.utime(tmp_path / "b.w2.7.part", (long_ago, long_ago))
    landing.remove_parts()

    assert sorted(file.name for file in tmp_path.glob("*.part")) == ["a.w2.7.part"]

    Landing(tmp_path).remove_parts()

    assert not list(tmp_path.glob("*.part"))


# --- a bucket's own


def test_two_writers_of_one_part_lose_nothing(bucket: Place) -> None:
    """One lost its lock and does not know: no number is given twice, so both lines are there, without a gap."""
    first, second = bucket.landing("w1"), bucket.landing("w1")
    for at, landing in enumerate((first, second, second, first)):
        record(landing, at)

    assert told(first, "w1") == [(day(at), at + 1) for at in range(4)]


def test_a_line_whose_answer_was_lost_is_written_once(bucket: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 asks again, and is told that the object is there: it is the line itself."""
    landing = bucket.landing("w1")
    put = type(landing.journal.bucket).put  # type: ignore[union-attr]

    def forgetful(self: object, name: str, content: bytes, *, only_new: bool = False) -> bool:
        done: bool = put(self, name, content, only_new=only_new)  # type: ignore[arg-type]
        return done and not only_new

    monkeypatch.setattr("warehouse.landing.storage.Bucket.put", forgetful)
    record(landing, 0)

    assert told(landing, "w1") == [(day(0), 1)]


@pytest.mark.parametrize("damage", ["gone", "cut", "empty"])
def test_an_object_that_is_missing_or_cut_is_named(bucket: Place, damage: str) -> None:
    """What stands before it can be read; what follows is not taken for the next."""
    landing = bucket.landing()
    for at in range(3):
        record(landing, at)
    name = f"journal/-/{2:012}.jsonl"
    bucket.write(name, {"gone": None, "cut": bucket.read(name)[:-1], "empty": b""}[damage])
    entries = landing.entries()

    assert next(entries).recorded_at == day(0)
    with pytest.raises(ChipledgerError, match="missing or cut") as caught:
        next(entries)
    assert (caught.value.source, caught.value.value) == (f"{bucket.place}journal/-/", "2")


def test_an_object_of_many_lines_counts_as_read_after_its_last(bucket: Place) -> None:
    """A copied journal has many lines in an object: whoever stops in the middle of one reads it again."""
    landing = bucket.landing()
    for at in range(3):
        record(landing, at)
    lines = [bucket.read(name) for name in bucket.names("journal/")]
    bucket.write("journal/w1/000000000001.jsonl", lines[0])
    bucket.write("journal/w1/000000000002.jsonl", b"".join(lines))

    assert told(landing, "w1") == [(day(0), 1), (day(0), 1), (day(1), 1), (day(2), 2)]
    assert [at for at, _ in told(landing, "w1", 1)] == [day(0), day(1), day(2)]


def test_a_strange_object_in_the_journal_is_named(bucket: Place) -> None:
    """What is none of ours is neither read nor counted past."""
    record(bucket.landing(), 0)
    bucket.write("journal/-/notes.txt", b"mine")

    with pytest.raises(ChipledgerError, match="none of the journal's"):
        list(bucket.landing().entries())


def test_what_needs_a_folder_says_so(bucket: Place) -> None:
    """Files that others may not read are of folders: a bucket refuses them, and writes nothing."""
    landing = bucket.landing()
    with pytest.raises(ChipledgerError, match="no rights of its own"):
        landing.store(document(), mode=0o600)
    assert bucket.names() == []
