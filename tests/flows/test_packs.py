"""Packs of documents, which the version before made, are unpacked once: nothing is lost, whatever happens meanwhile.

`packed_landing` was written by that version: months of a toy source, of which January and February were packed.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import packed
import pytest
from kept_data import toy_at
from toy_source import Toy

from flows.backup import replicas
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.landing import packs
from warehouse.landing.folder import Landing, is_named
from warehouse.landing.storage import Folder

BEFORE = Path(__file__).parent / "packed_landing"


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Toy]:
    """Return a toy over the landing folder of the version before."""
    shutil.copytree(BEFORE, tmp_path / "data/landing")
    with toy_at(tmp_path / "data") as toy:
        toy.at = 160
        yield toy


def bodies(toy: Toy) -> dict[str, bytes]:
    """Return every body that the journal names, by hash."""
    landing = Landing(toy.data_dir / "landing")
    hashes = {document["sha256"] for entry in landing.entries() for document in entry.content["documents"]}
    return {sha256: landing.body(sha256) for sha256 in hashes}


def opened(toy: Toy) -> list[str]:
    """Begin a run and return its notes."""
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        return run.summary.notes


def unpacked(toy: Toy) -> list[str]:
    """Unpack as a run does when it begins, without one, and return the notes."""
    return packs.unpack(Landing(toy.data_dir / "landing"))


def test_the_next_run_unpacks_them(toy: Toy) -> None:
    """Each document has a file of its own with the same bytes; the packs are gone; the log has every price. The run
    after it has nothing to unpack."""
    with pytest.raises(ChipledgerError, match="missing or damaged"):
        bodies(toy)
    notes = opened(toy)
    found = bodies(toy)

    assert notes == ["4 documents unpacked: each has a file of its own again"]
    assert len(found) == 7
    assert all(is_named(sha256, body) for sha256, body in found.items())
    assert not (toy.data_dir / "landing/packs").exists()
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        assert run.summary.notes == []
        prices = run.con.execute("select unit_price::DOUBLE from core.price_event order by valid_from, unit_price")
        assert [price for (price,) in prices.fetchall()] == [10, 20, 10.03, 10.06, 10.35, 11, 12]


@pytest.mark.prove
@pytest.mark.usefixtures("log_alone")
def test_rebuilding_and_migrating_unpack_them_too(toy: Toy, tmp_path: Path) -> None:
    """Both read every document without a run before."""
    assert replicas.rebuild(toy.settings(), clock=toy.clock).n_fetches == 12
    opened(toy)
    packed.pack(toy.data_dir)
    moved = replicas.migrate(
        toy.settings(), Settings(data_dir=tmp_path / "into"), clock=toy.clock, progress=lambda message: None
    )

    assert moved.landed
    assert (moved.landed.n_documents, moved.landed.missing) == (7, ())


@pytest.mark.parametrize("times", [1, 4, 5, 6, 8])
def test_an_interruption_loses_nothing(toy: Toy, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Killed while documents are stored, or packs removed: the next run has all of them."""
    calls = iter(range(times))

    def killed(path: Path, missing_ok: bool = False) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        unlink(path, missing_ok=missing_ok)

    unlink = Path.unlink
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            unpacked(toy)
    unpacked(toy)

    assert len(bodies(toy)) == 7
    assert not (toy.data_dir / "landing/packs").exists()


def test_a_pack_is_removed_after_its_documents_were_stored(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk stops the run, and every pack is still there."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write_packed", full)
        with pytest.raises(ChipledgerError):
            opened(toy)
    assert len(list((toy.data_dir / "landing/packs").glob("*/*.tar.zst"))) == 2


def test_a_damaged_pack_stays_and_is_named(toy: Toy) -> None:
    """The other one is unpacked and the run goes on; restored from a backup, it is unpacked by the next run."""
    january = toy.data_dir / "landing/packs/2026-01/toy.1.tar.zst"
    good = january.read_bytes()
    january.write_bytes(b"no pack")
    others, named = unpacked(toy)

    assert others.startswith("1 document unpacked")
    assert "cannot be read" in named
    assert str(january) in named
    assert january.exists()
    january.write_bytes(good)
    assert unpacked(toy) == ["3 documents unpacked: each has a file of its own again"]
    assert len(bodies(toy)) == 7


def test_a_document_that_is_not_what_its_name_says_stays_packed(toy: Toy) -> None:
    """It is never given out as another; the pack stays, and the note names it."""
    january = toy.data_dir / "landing/packs/2026-01/toy.1.tar.zst"
    (first, _), *rest = packs.read(january).items()
    january.write_bytes(packed.packed({first: b"another", **dict(rest)}))
    others, named = unpacked(toy)

    assert others.startswith("3 documents unpacked")
    assert first in named
    assert january.exists()


def test_a_pack_that_was_never_finished_is_removed(toy: Toy) -> None:
    """Without its list, which was written last, all its documents are in files of their own."""
    unpacked(toy)
    half = toy.data_dir / "landing/packs/2026-03/toy.1.tar.zst"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half a pack")

    assert unpacked(toy) == []
    assert not half.parent.parent.exists()
    assert len(bodies(toy)) == 7
