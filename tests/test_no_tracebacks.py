"""What a user meets who damages, misplaces or stops something: a message that says what to do, never a traceback."""

import _thread
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import duckdb
import kept
import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from looks import row
from purchase import P5, putting, seen
from web_site import Site

from flows.cli.main import main
from flows.shared import child
from flows.shared.append_log import Lines
from flows.shared.child import Child
from flows.shared.output import as_refusal
from reports import files
from warehouse import disk
from warehouse.errors import ChipledgerError, WriterBusy
from warehouse.log import db

COMMAND = (sys.executable, "-c", "from flows.cli.main import main; main()", "--data-dir")


def one_price(folder: Path) -> None:
    with putting(folder, asked=("source_health",)) as put:
        put(seen(0, "aws_price_list", row(P5, "55.04")), at=0)


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with one published price, of a test's own."""
    return shutil.copytree(kept.once(tmp_path_factory, "one-price", one_price), tmp_path / "data")


def call(folder: Path, *words: str) -> Result:
    """Run a command; it must end with an exit code, by itself."""
    result = CliRunner().invoke(main, ["--data-dir", str(folder), *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def cut(file: Path) -> None:
    file.chmod(0o644)
    os.truncate(file, file.stat().st_size // 3)


def flip(file: Path) -> None:
    file.chmod(0o644)
    with file.open("r+b") as opened:
        for place in range(8192, file.stat().st_size, 4096):
            opened.seek(place)
            opened.write(b"\xff" * 64)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("damage", [cut, flip, a_folder])
@pytest.mark.parametrize("words", [("query", "from mart.price_now"), ("report",), ("chips",), ("export", "x")])
def test_a_damaged_published_file_is_named_with_what_mends_it(
    folder: Path, damage: Callable[[Path], None], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    damage(folder / "prices.duckdb")
    result = call(folder, *words)
    assert result.exit_code == 1
    assert "prices.duckdb" in result.stderr
    assert "chipledger build" in result.stderr


def test_signs_that_a_terminal_lacks_are_refused_with_the_way_out(folder: Path) -> None:
    """The sign of the euro is in no Latin-1."""
    done = CliRunner(charset="latin-1").invoke(main, ["--data-dir", str(folder), "query", "select '€' as a"])
    expected = "error: what is printed has signs that latin-1 lacks. Set PYTHONUTF8=1, or a locale of UTF-8\n"
    assert (done.exit_code, done.stderr) == (1, expected)


def test_with_json_the_damage_is_an_object(folder: Path) -> None:
    cut(folder / "prices.duckdb")
    error = json.loads(call(folder, "query", "--json", "from mart.price_now").stderr)
    assert error.keys() == {"error", "source", "field", "value", "hint"}
    assert "chipledger build" in error["hint"]


def test_build_mends_a_published_file_that_is_damaged(folder: Path) -> None:
    """As the message says; a folder in its place is named."""
    with published_with(least=()):
        cut(folder / "prices.duckdb")
        assert call(folder, "build").exit_code == 0
        assert call(folder, "query", "select 1 as a").exit_code == 0
        a_folder(folder / "prices.duckdb")
        result = call(folder, "build")
    assert result.exit_code == 1
    assert "is a directory" in result.stderr
    assert str(folder / "prices.duckdb") in result.stderr


@pytest.mark.parametrize("command", ["build", "doctor"])
def test_a_lock_that_is_a_folder_is_named(folder: Path, command: str) -> None:
    a_folder(folder / "writer.lock")
    result = call(folder, command, *(["--offline"] if command == "doctor" else []))
    assert result.exit_code == 1
    assert "the lock is no file" in result.output
    assert str(folder / "writer.lock") in result.output


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["writer.lock", "mail.lock"])
def test_a_lock_that_leads_to_another_file_leaves_it_as_it_is(
    tmp_path: Path, link: Callable[..., None], name: str
) -> None:
    """Whoever may write the folder could have any file of the user emptied."""
    other = tmp_path / "other"
    other.write_text("content")
    link(other, tmp_path / name)
    locked = db.locked(tmp_path) if name == db.LOCK else Lines(path=tmp_path / "mail.jsonl", needed=()).locked(who="")
    with pytest.raises(ChipledgerError, match=r"the lock is (a link|another file's, too)"), locked:
        pass
    assert other.read_text() == "content"


def test_a_lock_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "writer.lock")
    with pytest.raises(ChipledgerError, match="the lock is no file"), db.locked(tmp_path):
        pass


def test_a_lock_keeps_who_held_it_only_while_it_is_held(tmp_path: Path) -> None:
    with (
        db.locked(tmp_path),
        pytest.raises(WriterBusy, match=f"another run is writing: process {os.getpid()} since 20"),
        db.locked(tmp_path),
    ):
        pass
    assert (tmp_path / "writer.lock").read_text().strip() == ""


def test_a_file_that_is_too_large_is_no_full_disk(tmp_path: Path) -> None:
    """EFBIG comes of a limit of the process, whatever is free."""
    with pytest.raises(disk.DiskFault, match=r"larger than this process may write.*ulimit -f"), disk.faults(tmp_path):
        raise OSError(27, os.strerror(27), str(tmp_path / "x"))


def test_a_full_disk_is_said_wherever_it_is_met() -> None:
    """By the system, which names no file to who writes, and by DuckDB, in `mail`, `export` or `data maintain`."""
    words = 'TransactionContext Error: Failed to commit: Could not write file "/x/build.duckdb.wal": ' + os.strerror(28)
    for error, told in (
        (OSError(28, os.strerror(28)), ""),
        (duckdb.TransactionException(words), "/x/build.duckdb.wal"),
    ):
        known = as_refusal(error)
        assert isinstance(known, disk.DiskFault)
        assert (known.message, known.source) == ("the disk is full", told)


def test_a_full_disk_is_named_by_what_is_written_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page, the message of a dry run, the record of what was sent: the system says no more than that it is full."""

    def full(_handle: int) -> None:
        raise OSError(28, os.strerror(28))

    def message() -> None:
        with disk.replacing(tmp_path / "x.eml") as part:
            part.write_bytes(b"x")

    monkeypatch.setattr(os, "fsync", full)
    lines = Lines(path=tmp_path / "mail.jsonl", needed=())
    for write in (lambda: files.put(tmp_path / "x.html", "x"), message, lambda: lines.add({})):
        with pytest.raises((OSError, disk.DiskFault)) as caught:
            write()
        known = as_refusal(caught.value)
        assert isinstance(known, disk.DiskFault)
        assert (known.message, known.source.startswith(str(tmp_path))) == ("the disk is full", True)


def test_a_data_directory_that_cannot_be_made_is_named() -> None:
    result = call(Path("/proc/x"), "run", "--offline")
    assert result.exit_code == 1
    assert "/proc/x" in result.stderr


def test_an_output_file_needs_its_folder(folder: Path) -> None:
    result = call(folder, "query", "--output", str(folder / "nowhere" / "x.csv"), "select 1 as a")
    assert result.exit_code == 1
    assert "there is no such folder" in result.stderr
    assert not (folder / "nowhere").exists()


@pytest.mark.parametrize("week", ["lastweek", "2025-60"])
def test_a_wrong_week_is_said_before_what_is_not_set_up(folder: Path, week: str) -> None:
    result = call(folder, "mail", "--week", week)
    assert week in result.stderr
    assert "not set up" not in result.stderr


@pytest.mark.parametrize("words", [("--output", "x.csv"), pytest.param((), marks=pytest.mark.prove)])
def test_a_question_that_cannot_be_interrupted_is_ended(
    folder: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And said so as any other that takes too long; nothing of a file stays. At length also without a file.

    Its process waits less than the product's for what does not end.
    """
    (tmp_path / "impatient.py").write_text("import __main__\nimport flows.shared.query\n__main__.GRACE_S = 0.2\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(child, "Child", lambda memory, _, of=child.Child, **how: of(memory, "impatient", **how))
    monkeypatch.chdir(folder)
    endless = "select levenshtein(repeat('a', 300000), repeat('b', 300000)) as d"
    began = time.monotonic()
    result = call(folder, "query", "--timeout", "0.1", *words, endless)
    assert time.monotonic() - began < 30
    assert (result.exit_code, "stopped after 0.1 s" in result.stderr) == (1, True)
    assert [path.name for path in folder.iterdir() if "x.csv" in path.name] == []


def test_a_question_of_too_much_memory_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here of 600 MB, for the test: what DuckDB does not count as its own is counted by the system."""
    monkeypatch.setattr("flows.cli.ask_commands.ADDRESS_SPACE_BYTES", 600_000_000)
    result = call(folder, "query", "select length(repeat('x', 1000000000)) as n")
    assert result.exit_code == 1
    assert "emory" in result.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", pytest.param("SIGTERM", marks=pytest.mark.prove)])
def test_a_run_that_is_stopped_says_what_is_kept(tmp_path: Path, name: str) -> None:
    """The exit code is that of the signal; no part stays, and the next run goes on. At length also by SIGTERM."""
    number = signal.Signals[name]
    former = signal.signal(number, signal.SIG_DFL)  # as where nobody ignores it for the tests
    with subprocess.Popen([*COMMAND, str(tmp_path), "run", "--offline"], stderr=subprocess.PIPE, text=True) as run:
        signal.signal(number, former)
        while not list(tmp_path.glob("offline/landing/*/*")) and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(number)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + number
    assert said.endswith(
        f"stopped by {number.name}. What was published is as it was. Documents fetched so far are kept: "
        "the next run loads them and goes on.\n"
    )
    assert "Traceback" not in said
    assert list(tmp_path.glob("offline/*.part")) == []


def test_a_run_is_stopped_while_a_site_is_silent(tmp_path: Path) -> None:
    """What waits for its turn is never asked, and what was asked is not waited for."""
    site = Site()
    site.answers = defaultdict(lambda: [lambda handler: time.sleep(60)])
    sources = ("voltagepark", "hotaisle", "lium")
    (tmp_path / "chipledger.toml").write_text(
        "workers = 1\n" + "".join(f'[sources.{name}]\nenabled = true\nurl = "{site.url}/{name}"\n' for name in sources)
    )
    words = ["run", *(word for name in sources for word in ("--source", name))]
    threading.Thread(target=site.server.serve_forever, daemon=True).start()
    former = signal.signal(signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen([*COMMAND, "data", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
        signal.signal(signal.SIGINT, former)
        while not site.asked and run.poll() is None:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, said = run.communicate(timeout=60)
    site.server.shutdown()
    assert (run.returncode, time.monotonic() - began < 10) == (130, True), said
    assert "stopped by SIGINT. What was published is as it was." in said
    assert len(site.asked) == 1


@pytest.mark.prove
def test_a_question_that_is_stopped_takes_its_process_along(folder: Path) -> None:
    endless = "select levenshtein(repeat('a', 300000), repeat('b', 300000)) as d"
    with subprocess.Popen([*COMMAND, str(folder), "query", endless], stderr=subprocess.PIPE, text=True) as asking:
        children = Path(f"/proc/{asking.pid}/task/{asking.pid}/children")
        while not (found := children.read_text().split()) and asking.poll() is None:
            time.sleep(0.05)
        asking.send_signal(signal.SIGTERM)
        _, said = asking.communicate(timeout=60)
    assert (asking.returncode, said) == (143, "stopped by SIGTERM.\n")
    assert found
    for _ in range(200):  # where it had just been started it ends as it sees that nobody asks
        if not Path(f"/proc/{found[0]}").exists():
            return
        time.sleep(0.05)
    pytest.fail("the process goes on")


def test_a_signal_that_interrupts_no_wait_is_seen_soon() -> None:
    """As one does that comes between the last look of Python and the wait for an answer, too short to meet."""
    asked, began = Child(2_000_000_000, "multiprocessing.connection"), time.monotonic()
    asked.start()
    comes = threading.Timer(0.3, _thread.interrupt_main)
    comes.start()
    with pytest.raises(KeyboardInterrupt):
        asked.ask("multiprocessing.connection:wait", seconds=30, object_list=[], timeout=20)
    assert time.monotonic() - began < 10
