"""Files pulled away or damaged, a second run, a reader, a clock set back: named where it must be, and never false."""

import gzip
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from crash import checks
from crash.bench import KILLED, Bench
from crash.tally import TALLY

prove = pytest.mark.prove


def newest_body(root: Path) -> Path:
    """Return the file of the document that the journal names last."""
    import json

    sha256 = json.loads(checks.lines(root / "data/landing")[-1])["documents"][0]["sha256"]
    return root / f"data/landing/{sha256[:2]}/{sha256}.gz"


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(body)


def cut(path: Path) -> None:
    """Take the second half of a file away."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@prove
@pytest.mark.parametrize("name", ["prices.duckdb", "build.duckdb", "writer.lock"])
def test_a_file_pulled_away(bench: Bench, name: str) -> None:
    """The log is made anew from landing, the published file from the log: equal to what they would have been."""
    with bench.copy("run") as root:
        (root / "data" / name).unlink()
        if name == "prices.duckdb":
            ended = bench.zygote.do("run", root)
            with TALLY.trying(f"without {name}", ended):
                assert checks.outcome(root, root.parent / "s") == bench.before("run").made
        else:
            ended = bench.zygote.do("run", root)
            bench.look("run", root, f"without {name}", ended)


@prove
@pytest.mark.parametrize("name", ["prices.duckdb", "build.duckdb"])
def test_a_file_pulled_away_while_running(bench: Bench, name: str) -> None:
    """At ten moments of a run: it ends well or says what is wrong, and the next one mends it."""
    takes = bench.before("run").undisturbed.seconds
    for part in range(10):
        with bench.copy("run") as root:
            path = root / "data" / name
            timer = threading.Timer(takes * part / 10, lambda path=path: path.exists() and path.rename(root / "gone"))
            timer.start()
            ended = bench.zygote.do("run", root)
            timer.join()
            assert ended.status in (0, 1), ended.printed
            if not (root / "data/prices.duckdb").exists():
                (root / "gone").rename(root / "data/prices.duckdb")
            bench.look("run", root, f"{name} pulled away while running", ended)


@prove
@pytest.mark.parametrize("damage", [Path.unlink, cut, flip])
def test_a_document_that_was_not_loaded_yet_is_damaged(bench: Bench, damage: Callable[[Path], None]) -> None:
    """Its look is named as failed, no price comes of it, and the log keeps its last ones."""
    with bench.copy("run") as root:
        ended = bench.zygote.do("run", root, point="before loading")
        assert ended.status == KILLED
        damage(newest_body(root))
        built = bench.zygote.do("build", root)
        with TALLY.trying("a document damaged before it was loaded", built):
            assert built.status == 0, built.printed
            with duckdb.connect(str(root / "data/prices.duckdb"), read_only=True) as con:
                ((status, error),) = con.execute(
                    "select status, error from core.scope_run order by observed_at desc, status limit 1"
                ).fetchall()
            assert status == "failed"
            assert "document" in error
            checks.published(root / "data/prices.duckdb")


@prove
@pytest.mark.parametrize("damage", [Path.unlink, cut, flip])
def test_a_log_is_not_made_anew_from_damaged_documents(bench: Bench, damage: Callable[[Path], None]) -> None:
    """`rebuild` finds the difference, names the table, and leaves the log and the published file as they are."""
    with bench.copy("rebuild") as root:
        damage(newest_body(root))
        before = (root / "data/prices.duckdb").read_bytes()
        ended = bench.zygote.do("rebuild", root)
        with TALLY.trying("rebuild with a damaged document", ended):
            assert ended.status == 70
            assert "the log in use stays" in ended.printed
            assert (root / "data/prices.duckdb").read_bytes() == before


def shorten(journal: Path, n_bytes: int) -> None:
    journal.write_bytes(journal.read_bytes()[:-n_bytes])


JOURNALS: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut in its last line": (lambda journal: shorten(journal, 40), "not the one that was loaded"),
    "cut by one byte": (lambda journal: shorten(journal, 1), "not the one that was loaded"),
    "without its last lines": (
        lambda journal: journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2])),
        "not the one that was loaded",
    ),
    "gone": (Path.unlink, "not the one that was loaded"),
    "with a line of words": (
        lambda journal: journal.write_bytes(journal.read_bytes() + b"hello\n"), "unreadable line",
    ),
    "with a line of another program": (
        lambda journal: journal.write_bytes(journal.read_bytes() + b'{"a": 1}\n'), "unreadable line",
    ),
    "with a line of an unknown kind": (
        lambda journal: journal.write_bytes(
            journal.read_bytes() + b'{"kind": "other", "recorded_at": "2026-05-31T00:00:00.000000Z"}\n'
        ),
        "unreadable line",
    ),
    "with a look that lacks its source": (
        lambda journal: journal.write_bytes(
            journal.read_bytes() + b'{"kind": "look", "recorded_at": "2026-05-31T00:00:00.000000Z", "documents": []}\n'
        ),
        "unreadable line",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [name if "cut in" in name else pytest.param(name, marks=prove) for name in JOURNALS])
def test_a_journal_that_is_not_ours_is_refused(bench: Bench, name: str) -> None:
    """Nothing is loaded after a place that cannot be right, and nothing is published; the error says what to do."""
    change, message = JOURNALS[name]
    with bench.copy("run") as root:
        before = checks.published(root / "data/prices.duckdb")
        change(root / "data/landing/journal.jsonl")
        ended = bench.zygote.do("run", root)
        with TALLY.trying("a journal cut or foreign", ended):
            assert ended.status == 1, ended.printed
            assert message in ended.printed
            assert "restore" in ended.printed.lower()
            assert checks.published(root / "data/prices.duckdb") == before


@prove
def test_a_torn_last_line_is_cut_off(bench: Bench) -> None:
    """What a crash left of a line that was never loaded is no fault: the run goes on."""
    with bench.copy("run") as root:
        with (root / "data/landing/journal.jsonl").open("ab") as file:
            file.write(b'{"kind": "look", "rec')
        ended = bench.zygote.do("run", root)
        bench.look("run", root, "a torn last line", ended)


@prove
def test_a_log_with_a_cut_journal_is_not_replaced_by_less(bench: Bench) -> None:
    """`rebuild` from what is left differs from the log in use, which stays."""
    with bench.copy("rebuild") as root:
        journal = root / "data/landing/journal.jsonl"
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:2]))
        ended = bench.zygote.do("rebuild", root)
        with TALLY.trying("rebuild with a cut journal", ended):
            assert "the log in use stays" in ended.printed


@prove
def test_two_runs_at_once(bench: Bench) -> None:
    """One of them says who writes; what is left is what one run makes."""
    ended = []
    with bench.copy("run") as root:
        threads = [threading.Thread(target=lambda: ended.append(bench.zygote.do("run", root))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses = sorted(each.status for each in ended)
        assert statuses in ([0, 0], [0, 1]), ended
        assert all("another run is writing: process " in each.printed for each in ended if each.status)
        bench.look("run", root, "two runs at once", max(ended, key=lambda each: each.seconds))


READER = """
import select, sys, duckdb
file = sys.argv[1]
with duckdb.connect(file, read_only=True) as con:
    before = con.execute("select count(*), sum(hash(p)) from core.sku_price as p").fetchall()
    print("open", flush=True)
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        assert con.execute("select count(*), sum(hash(p)) from core.sku_price as p").fetchall() == before
with duckdb.connect(file, read_only=True) as con:
    assert con.execute("select count(*), sum(hash(p)) from core.sku_price as p").fetchall() != before
"""


@prove
def test_a_reader_holds_the_file_open(bench: Bench) -> None:
    """It sees the old rows all the while, a killed run between, and the new ones when it opens the file again."""
    with bench.copy("run") as root:
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, str(root / "data/prices.duckdb")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert reader.stdout
        assert reader.stdout.readline() == "open\n"
        ended = bench.zygote.do("run", root, point="in publishing, before the folder's flush")
        assert ended.status == KILLED
        bench.look("run", root, "a reader holds the file open", ended)
        _, errors = reader.communicate("enough\n", timeout=120)
        assert (reader.returncode, errors) == (0, "")


@prove
def test_a_clock_set_back(bench: Bench) -> None:
    """A run dated before the last one, then one of today: intervals do not overlap, and today's prices are right."""
    with bench.copy("run") as root:
        back = bench.zygote.do("older", root)
        with TALLY.trying("a clock set back", back):
            assert back.status == 0, back.printed
            checks.outcome(root, root.parent / "s")
            today = bench.zygote.do("run", root)
            assert today.status == 0, today.printed
            checks.outcome(root, root.parent / "s")
            assert prices(root) == prices(bench.before("run").after)


def prices(root: Path) -> list[tuple[object, ...]]:
    """Return what each offer costs now."""
    with duckdb.connect(str(root / "data/prices.duckdb"), read_only=True) as con:
        return con.execute(
            "select offer_id, source, unit_price from core.sku_price where valid_to is null order by all"
        ).fetchall()


STALE = """
import os, signal, sys, duckdb
con = duckdb.connect(sys.argv[1])
con.execute("set checkpoint_threshold = '1GB'")
con.execute("insert into core.sku_price_other select * from core.sku_price limit 3")
con.execute("create table core.stale as select 1 as n")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_stale_wal_is_never_replayed(bench: Bench) -> None:
    """A real one, of the very file that is replaced: the new file has nothing of it, and it is gone."""
    with bench.copy("run") as root:
        file = root / "data/prices.duckdb"
        whole = file.read_bytes()
        file.chmod(0o644)
        subprocess.run([sys.executable, "-c", STALE, str(file)], check=False)
        assert file.with_name("prices.duckdb.wal").stat().st_size > 100
        file.write_bytes(whole)
        ended = bench.zygote.do("run", root)
        with TALLY.trying("a stale .wal beside the published file", ended):
            assert ended.status == 0, ended.printed
            assert checks.outcome(root, root.parent / "s") == bench.before("run").made


@prove
def test_a_stale_wal_beside_a_missing_log(bench: Bench) -> None:
    """It is of a log that is gone, and says nothing to the one that is made anew."""
    with bench.copy("run") as root:
        assert bench.zygote.do("run", root, point="after a checkpoint, with a .wal").status == KILLED
        assert (root / "data/build.duckdb.wal").exists()
        (root / "data/build.duckdb").unlink()
        ended = bench.zygote.do("run", root)
        bench.look("run", root, "a stale .wal beside a missing log", ended)


@prove
def test_what_a_dead_process_left_is_removed(bench: Bench) -> None:
    """Parts of files and a lock whose holder is gone hinder nothing; the parts are removed."""
    with bench.copy("run") as root:
        data = root / "data"
        (data / "writer.lock").write_text("process 4194303 since 2026-01-01T00:00:00+00:00\n")
        for name in ("prices.duckdb.4194303.part", "prices.duckdb.4194303.part.wal", f"landing/{'0' * 64}.4194303.part",
                     "landing/packs/2026-01/toy.1.tar.zst.4194303.part"):  # fmt: skip
            (data / name).parent.mkdir(parents=True, exist_ok=True)
            (data / name).write_bytes(gzip.compress(b"half"))
        ended = bench.zygote.do("run", root)
        bench.look("run", root, "what a dead process left", ended)
