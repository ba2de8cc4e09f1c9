"""Every bundle of `chipledger check-live` that lies here is read: a failed one fails until its source is repaired.

Here is the folder `captures` below the data directory of the settings: chipledger.toml, or CHIPLEDGER_DATA_DIR.
"""

from pathlib import Path

import pytest

from extract import source_named
from flows.collect import live
from flows.config import settings
from warehouse.errors import LayoutChanged

ROOT = Path(__file__).parents[2]


def here() -> Path:
    """Return the data directory that the settings name."""
    return ROOT / settings.layers().model().data_dir


def unreadable(folder: Path) -> dict[str, str]:
    """Return why bundles below a data directory cannot be read, by their folder; the newest of each source counts."""
    bundles = sorted(path.parent for path in (folder / live.FOLDER).glob(f"*/*/{live.MANIFEST}"))
    newest = {bundle.parent.name: bundle for bundle in bundles}
    found = {}
    for name, bundle in newest.items():
        try:
            live.read_bundle(source_named(name), bundle, live.Check(source=name))
        except LayoutChanged as error:
            found[str(bundle)] = str(error)
    return found


def test_every_bundle_here_can_be_read() -> None:
    """Without any it says nothing; `chipledger check-live` makes them."""
    assert unreadable(here()) == {}


def test_here_is_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of settings in the folder where tests run, or the variable; git ignores the default."""
    monkeypatch.chdir(tmp_path)
    assert here() == ROOT / "data"
    assert "/data/" in (ROOT / ".gitignore").read_text().splitlines()
    (tmp_path / "chipledger.toml").write_text('data_dir = "/srv/prices"\n')
    assert here() == Path("/srv/prices")
    monkeypatch.setenv("CHIPLEDGER_DATA_DIR", "/mnt/prices")
    assert here() == Path("/mnt/prices")


@pytest.mark.parametrize(("body", "is_well"), [(b"", False), (None, True)])
def test_a_bundle_is_a_test(tmp_path: Path, body: bytes | None, *, is_well: bool) -> None:
    """One that cannot be read is named; one that can be is not."""
    found = live.Check(source="ovh", scope="FR", verdict="well")
    fixture = ROOT / "tests" / "neoclouds" / "fixtures" / "ovh.json"
    live._write(tmp_path / live.FOLDER, found, [], [fixture.read_bytes() if body is None else body], [])

    assert (unreadable(tmp_path) == {}) is is_well
