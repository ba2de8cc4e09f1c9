"""Every bundle of `chipledger check-live` that lies here is read: a failed one fails until its source is repaired."""

import os
from pathlib import Path

import pytest

from extract import source_named
from flows.collect import live
from warehouse.errors import LayoutChanged

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "data", *(Path(os.environ[name]) for name in ("CHIPLEDGER_DATA_DIR",) if name in os.environ))


def unreadable(folder: Path) -> dict[str, str]:
    """Return why bundles below a data directory cannot be read, by their folder; the newest of each source counts."""
    newest = {bundle.parent.name: bundle for bundle in live.bundles(folder / live.FOLDER)}
    found = {}
    for name, bundle in newest.items():
        try:
            live.read_bundle(source_named(name), bundle)
        except LayoutChanged as error:
            found[str(bundle)] = str(error)
    return found


def test_every_bundle_here_can_be_read() -> None:
    """Without any it says nothing; `chipledger check-live` makes them."""
    assert {folder: unreadable(folder) for folder in FOLDERS} == {folder: {} for folder in FOLDERS}


@pytest.mark.parametrize(("body", "is_well"), [(b"", False), (None, True)])
def test_a_bundle_is_a_test(tmp_path: Path, body: bytes | None, *, is_well: bool) -> None:
    """One that cannot be read is named; one that can be is not."""
    found = live.Check(source="ovh", scope="FR", verdict="well")
    fixture = ROOT / "tests" / "neoclouds" / "fixtures" / "ovh.json"
    live._write(tmp_path / live.FOLDER, found, [], [fixture.read_bytes() if body is None else body], [])

    assert (unreadable(tmp_path) == {}) is is_well
