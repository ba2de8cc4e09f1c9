"""Files are 0600 and folders 0700, whatever the umask; pages are for everybody, and exports as the user has it."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import log_place
import pytest
from click.testing import CliRunner
from few_marts import published_with
from market_file import market

from flows.cli.main import main
from flows.shared.folders import as_user, users_umask

CSV = (
    "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type,gpu_raw,gpu_count,source\n"
    "2026-11-01T00:00:00Z,Acme,eu-1,on_demand,16.00,m8,H100 SXM,8,desk\n"
)


@pytest.fixture(scope="module")
def here() -> Iterator[Callable[..., None]]:
    """Return a function that runs a command in this process as if it had been started with a umask.

    It publishes no more than these tests ask for, and migrates each file of a log itself.
    """

    def run(folder: Path, *words: str, umask: int = 0o000) -> None:
        users_umask.cache_clear()
        os.umask(umask)
        with published_with("mart.price_now", least=()) if "import" in words else nullcontext():
            done = CliRunner().invoke(main, ["--data-dir", str(folder / "data"), *words])
        assert done.exit_code == 0, done.output

    theirs, before = users_umask(), os.umask(0o077)
    with log_place.anew(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHIPLEDGER_SITE__CHARTS", "false")
        yield run
    os.umask(theirs)
    users_umask.cache_clear()
    assert users_umask() == theirs
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (folder, *folder.rglob("*"))
    }  # fmt: skip


@pytest.fixture(scope="module")
def made(here: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which an import was published, under umask 000."""
    folder = tmp_path_factory.mktemp("modes")
    (folder / "seen.csv").write_text(CSV)
    here(folder, "import", str(folder / "seen.csv"))
    return folder


def test_what_is_made_is_its_owners(made: Path) -> None:
    """The data directory, landing, journal, log and cache; the published file is read-only."""
    found = modes(made / "data")

    assert found.pop("prices.duckdb") == 0o444
    assert {"build.duckdb", "writer.lock", "landing", "landing/journal.jsonl", "cache"} <= found.keys()
    wrong = {
        name: oct(mode) for name, mode in found.items() if mode != (0o700 if (made / "data" / name).is_dir() else 0o600)
    }
    assert wrong == {}


def test_pages_are_for_everybody(
    here: Callable[..., None], tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """A web server reads them as another user."""
    (tmp_path / "data").mkdir(mode=0o700)
    shutil.copy(market(tmp_path_factory), tmp_path / "data")
    here(tmp_path, "report")
    found = modes(tmp_path / "data")
    pages = {name: mode for name, mode in found.items() if name.startswith("reports")}

    assert {"reports/index.html", "reports/weeks"} <= pages.keys()
    assert found.keys() - pages.keys() == {".", "prices.duckdb"}
    wrong = {
        name: oct(mode)
        for name, mode in pages.items()
        if mode != (0o755 if (tmp_path / "data" / name).is_dir() else 0o644)
    }
    assert wrong == {}


def test_an_export_has_the_users_umask(here: Callable[..., None], made: Path, tmp_path: Path) -> None:
    """He named its place; also where the settings were read before."""
    here(made, "query", "select 1 as x", "--output", f"{tmp_path}/one.csv", umask=0o022)
    here(made, "export", f"{tmp_path}/out", "--mart", "price_now", umask=0o027)

    (exported,) = (tmp_path / "out").glob("*")
    assert [stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "one.csv", exported)] == [0o644, 0o640]


@pytest.mark.usefixtures("log_alone")
def test_who_may_only_pass_a_data_directory_may_query(
    here: Callable[..., None], made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `chmod o+x` of the documents has it: it cannot be listed."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.R_OK)
    here(made, "query", "from mart.price_now")


@pytest.mark.usefixtures("log_alone")
def test_folders_that_are_there_keep_their_modes(here: Callable[..., None], tmp_path: Path) -> None:
    """A user who shares his data directory goes on doing so."""
    (tmp_path / "seen.csv").write_text(CSV)
    for name in ("data", "data/landing"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o775)
    here(tmp_path, "import", str(tmp_path / "seen.csv"), umask=0o022)

    found = modes(tmp_path / "data")
    assert (found["."], found["landing"], found["landing/journal.jsonl"]) == (0o775, 0o775, 0o600)


def test_a_shared_warehouse_is_its_groups(tmp_path: Path) -> None:
    """The user's umask decides for his group, and others have nothing."""
    program = (
        "import os, pathlib, sys; from flows.config import settings\n"
        "for mask in sys.argv[1:]:\n"
        "    if not os.fork():\n"
        "        os.umask(int(mask, 8))\n"
        "        settings.read(environ={'CHIPLEDGER_WAREHOUSE__URL': 'ducklake:sqlite:/tmp/none.sqlite'})\n"
        "        pathlib.Path(mask).touch()\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
    )
    subprocess.run([sys.executable, "-c", program, "002", "022", "077"], cwd=tmp_path, check=True)

    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {
        "002": 0o660, "022": 0o640, "077": 0o600
    }  # fmt: skip


def test_the_users_umask_ends_with_what_he_named(tmp_path: Path) -> None:
    """What follows an export is the owner's again."""
    users_umask()
    before = os.umask(0o077)
    try:
        with as_user():
            pass
        (tmp_path / "after").touch()
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "after").stat().st_mode) == 0o600
