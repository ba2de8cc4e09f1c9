"""What the repository promises: imports that are ours, a wheel that is whole, and nothing of one machine in git."""

import importlib
import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pytest_socket import SocketConnectBlockedError

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "extract", "transform", "reports", "warehouse")

FORBIDDEN = re.compile(
    rb"\b(?:pypi|pythonhosted|anaconda)\.org\b"
    rb"|\bregistry\.npmjs\.org\b|\bproxy\.golang\.org\b|\bcrates\.io\b"
    rb"|(?<![\w.~-])/(?:work|root)/|(?<![\w.~-])/(?:home|Users)/\w+/|/tmp/\w+_jobs"
)
"""Package registries, which only uv.lock names, and paths of one machine."""


def committed_files() -> list[Path]:
    """Return the files that git tracks and that are present."""
    # A checkout may belong to another user, as in containers.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def forbidden_in(body: bytes) -> list[str]:
    """Return what a file names and should not."""
    return sorted({match.decode() for match in FORBIDDEN.findall(body)})


def data_files(root: Path) -> set[str]:
    """Return the files of our packages that are not Python: SQL, seeds, archive."""
    return {
        str(path.relative_to(root))
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".duckdb", ".wal"} and path.parent.name != "__pycache__"
    }


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this tree unpacked, built by the locked hatchling without network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("chipledger-*-py3-none-any.whl")
    zipfile.ZipFile(built).extractall(folder / "site")
    return folder / "site"


@pytest.mark.parametrize("name", PACKAGES)
def test_import_is_ours(name: str) -> None:
    """The names are generic; each means the package of this repository."""
    assert importlib.import_module(name).__file__ == str(ROOT / name / "__init__.py")


def test_wheel_carries_all_data(wheel: Path) -> None:
    """SQL, seeds and the offline archive travel in the wheel: as many files as in the tree, byte for byte."""
    assert data_files(wheel) == data_files(ROOT)
    assert [name for name in data_files(ROOT) if (wheel / name).read_bytes() != (ROOT / name).read_bytes()] == []


def test_wheel_carries_nothing_else(wheel: Path) -> None:
    """No history, tests, benchmarks or landed documents travel with it."""
    assert {path.name for path in wheel.iterdir() if path.suffix != ".dist-info"} == set(PACKAGES)
    assert [path.name for path in wheel.rglob("*") if path.suffix in {".duckdb", ".wal", ".pyc", ".arrow"}] == []


def test_wheel_has_command_and_licence(wheel: Path) -> None:
    """The wheel installs `chipledger`, and says under which licence."""
    (info,) = wheel.glob("chipledger-*.dist-info")

    assert "chipledger = flows.cli.main:main" in (info / "entry_points.txt").read_text()
    assert (info / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "License-Expression: Apache-2.0" in (info / "METADATA").read_text()
    assert "Private :: Do Not Upload" in (info / "METADATA").read_text()


def test_command_starts_from_wheel(wheel: Path, tmp_path: Path) -> None:
    """The command line runs from the wheel's files, outside the repository."""
    start = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); sys.argv[0] = 'chipledger'\n"
        f"import warehouse; assert warehouse.__file__.startswith({str(wheel)!r}), warehouse.__file__\n"
        "from flows.cli.main import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-c", start, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stderr
    assert "Usage: chipledger" in run.stdout


def test_no_file_names_a_registry_or_a_machine() -> None:
    """What is committed works elsewhere: no registry but in uv.lock, no path of one machine."""
    found = {
        str(path.relative_to(ROOT)): names
        for path in committed_files()
        if path != ROOT / "uv.lock" and (names := forbidden_in(path.read_bytes()))
    }

    assert found == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # Written in pieces, so that this file does not name what it forbids.
        (f"see https://{'pypi'}.org/simple", [f"{'pypi'}.org"]),
        (f"files.{'pythonhosted'}.org", [f"{'pythonhosted'}.org"]),
        (f"cd /{'work'}/main", [f"/{'work'}/"]),
        (f'"/{"root"}/.cache"', [f"/{'root'}/"]),
        (f"/{'home'}/someone/x", [f"/{'home'}/someone/"]),
        (f"/{'tmp'}/some_jobs.0/x", [f"/{'tmp'}/some_jobs"]),
        ("https://example.com/work/1, ./work/2, at work, /tmp/x", []),
    ],
)
def test_forbidden_names_are_seen(text: str, named: list[str]) -> None:
    """Each forbidden name is found where it stands, and addresses that look alike are not."""
    assert forbidden_in(text.encode()) == named


def test_no_database_or_scrape_is_committed() -> None:
    """Captured data is in git only as fixture, seed or archive."""
    kept = re.compile(r"\.(duckdb|wal|parquet)$|^(data|landing|reports/out)/")

    assert [name for path in committed_files() if kept.search(name := str(path.relative_to(ROOT)))] == []


def test_actions_are_pinned() -> None:
    """Every workflow step of others is pinned to a full commit with its version beside, and starts with no rights."""
    pinned = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$")
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        text = path.read_text()
        uses = [line.strip() for line in text.splitlines() if "uses:" in line]
        assert [line for line in uses if not pinned.search(line)] == [], path.name
        assert "\npermissions: {}\n" in text, path.name


@pytest.mark.filterwarnings("ignore:A test tried to use")
def test_no_test_reaches_the_network() -> None:
    """A connection to another machine is refused before a packet leaves (192.0.2.1 is nobody's: RFC 5737)."""
    with pytest.raises(SocketConnectBlockedError), socket.socket() as connection:
        connection.connect(("192.0.2.1", 80))
