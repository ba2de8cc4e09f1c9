"""The quarantine seen and closed: rows of the log are listed, many decided at once, older fetches with a newer one."""

import errno
import json
import os
import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from few_marts import published_with
from published import query
from toy_source import Toy, installed

import extract
from flows.backup import replicas, snapshot
from flows.cli.main import main
from flows.collect import steps
from reports import queries
from warehouse import disk
from warehouse.log.withdraw import selected

WHOLE = {f"p5.{size}xlarge": f"{size}.00" for size in range(1, 9)}
CUT = {"p5.1xlarge": "1.00", "p5.2xlarge": "2.00"}
OPEN = "select quarantine_id from core.quarantine group by all having count(decision) = 0 order by all"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toy:
    """Return a source of our own, the only one, over an empty data directory."""
    return installed(monkeypatch, tmp_path / "data")


def call(toy: Toy, *arguments: str) -> list[dict[str, object]]:
    """Return what a command prints as JSON."""
    result = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), *arguments, "--json"])
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, object]] = json.loads(result.stdout)
    return rows


@pytest.fixture(scope="module")
def cut_short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of a whole answer and three that were cut short, and one of another scope; none was
    published."""
    with pytest.MonkeyPatch.context() as patch:
        toy = installed(patch, tmp_path_factory.mktemp("cut") / "data")
        toy.learn(0, one=WHOLE, two=WHOLE)
        for at, two, status in ((1, WHOLE, "ok"), (2, WHOLE, "ok"), (3, CUT, "refused")):
            assert {result.status for result in toy.learn(at, one=CUT, two=two).results} == {"refused", status}
    return toy.data_dir


@pytest.fixture
def refused(cut_short: Path, toy: Toy) -> list[dict[str, object]]:
    """Give the toy what was cut short; return what is listed after it."""
    shutil.copytree(cut_short, toy.data_dir)
    return call(toy, "quarantine", "list")


def test_what_was_refused_is_listed_where_nothing_was_published(toy: Toy, refused: list[dict[str, object]]) -> None:
    """The list is that of the log: a run that finds nothing fresh tells people to read it."""
    assert not (toy.data_dir / "prices.duckdb").exists()
    assert [row["reason"] for row in refused] == ["2 prices where the last complete answer had 8"] * 4


@pytest.mark.usefixtures("least_marts")
def test_the_list_of_a_log_that_is_written_is_that_of_the_published_file(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it says so; the same on a full disk, whose file is named, and where the file was copied without the log."""
    from warehouse.log import db

    toy.learn(0, one=WHOLE)
    toy.run(1, one={**WHOLE, "p5.1xlarge": "9.00"})
    with db.locked(toy.data_dir):
        result = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "list", "--json"])
    assert [row["value"] for row in json.loads(result.stdout)] == ["9"]
    assert "This is what the published file has: another run is writing" in result.stderr

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        result = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "list", "--json"])
        with pytest.raises(disk.DiskFault, match=r"writer\.lock: the disk is full"):
            snapshot.back_up(toy.settings(), toy.data_dir.with_name("backup"), clock=toy.clock)
    assert [row["value"] for row in json.loads(result.stdout)] == ["9"]
    assert "This is what the published file has: the disk is full" in result.stderr
    (toy.data_dir / "build.duckdb").unlink()
    result = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "list", "--json"])
    assert [row["value"] for row in json.loads(result.stdout)] == ["9"]
    assert not (toy.data_dir / "build.duckdb").exists()


@pytest.mark.prove
@pytest.mark.usefixtures("log_alone")
def test_an_accepted_fetch_closes_the_older_ones(toy: Toy, refused: list[dict[str, object]]) -> None:
    """Three days of one outage are one decision; a later fetch that is refused stays open; so after a rebuild."""
    [first, second, *later] = refused
    toy.decide(4, int(str(second["quarantine_id"])), "accept")
    log = toy.data_dir / "build.duckdb"
    decided = "select quarantine_id, decision, decided_by from core.quarantine where decision is not null order by all"
    expected = sorted([
        (first["quarantine_id"], "refuse", "a later fetch of the scope was accepted"),
        (second["quarantine_id"], "accept", "a person"),
    ], key=str)  # fmt: skip
    assert sorted(query(log, decided), key=str) == expected
    assert [number for (number,) in query(log, OPEN)] == sorted(int(str(row["quarantine_id"])) for row in later)
    assert {row["scope"] for row in later} == {"one", "two"}
    assert replicas.rebuild(toy.settings(), clock=toy.clock).is_in_use
    assert sorted(query(log, decided), key=str) == expected


@pytest.mark.usefixtures("log_alone", "refused")
def test_many_are_decided_at_once(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """By source and age, or all of them; the rows of others stay open; nothing is done where nothing is chosen."""
    monkeypatch.setattr(extract, "SOURCES", (*extract.SOURCES, toy.source()))
    assert len(call(toy, "quarantine", "list", "--source", "toy")) == 4
    assert call(toy, "quarantine", "list", "--source", "lambda") == []
    assert call(toy, "quarantine", "list", "--older-than", "100000") == []
    nothing = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "refuse"])
    assert (nothing.exit_code, "Name ids, --source, --older-than or --all" in nothing.stderr) == (2, True)
    assert len(query(toy.data_dir / "build.duckdb", OPEN)) == 4
    none = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "refuse", "--source", "lambda"])
    assert none.stdout.endswith("note: 0 chosen: refuse\nnothing was published; the last file is unchanged\n")
    assert len(query(toy.data_dir / "build.duckdb", OPEN)) == 4
    done = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "refuse", "--source", "toy"])
    assert (done.exit_code, "note: 4 chosen" in done.stdout) == (0, True)
    assert query(toy.data_dir / "build.duckdb", OPEN) == []


@pytest.mark.usefixtures("log_alone")
def test_a_price_that_waits_is_listed_once(toy: Toy) -> None:
    """With how often it was seen, the first time and the last, and counted once by pages and mail, by the same number;
    whoever decides on it decides on all, also where two scopes saw it at one moment."""
    toy.learn(0, one=CUT)
    for at in (1, 2):
        toy.learn(at, one={**CUT, "p5.1xlarge": "9.00"})
    log = toy.data_dir / "build.duckdb"
    with duckdb.connect(str(log)) as con:
        con.execute(
            "insert into core.quarantine select * replace (quarantine_id + 1 as quarantine_id, 'two' as scope) "
            "from core.quarantine"
        )
    [held] = call(toy, "quarantine", "list")
    seen = (str(held[name])[:10] for name in ("observed_at", "last_observed_at"))
    assert (held["n_observed"], *seen) == (4, "2026-01-02", "2026-01-03")
    counted = query(log, f"select quarantine_id, last_observed_at::DATE::VARCHAR from ({queries.select('refused')})")
    assert counted == [(held["quarantine_id"], "2026-01-03")]
    done = CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), "quarantine", "refuse", "--all"])
    assert "note: 1 chosen: refuse" in done.stdout
    assert query(toy.data_dir / "build.duckdb", OPEN) == []


@pytest.mark.prove
@published_with("truth_check", least=())
def test_an_accepted_fetch_leaves_the_books_right(toy: Toy) -> None:
    """It was refused once and is loaded now: the truth checks add up, that day's and the next.

    So after a price was accepted and another one withdrawn.
    """
    toy.learn(0, one=WHOLE)
    [refusal] = [row for row in (toy.learn(1, one=CUT), call(toy, "quarantine", "list"))[1] if row["gate"] == "batch"]
    found = "select result, n_compared, n_differing from int.truth_check where check_name = 'refused_rows_add_up'"
    decided = toy.decide(2, int(str(refusal["quarantine_id"])), "accept", publish=False)
    assert next(decided.lines()) == "0 fetches; 0 rows read; 6 changes stored"
    toy.run(3, one=CUT)
    assert query(toy.data_dir / "prices.duckdb", found) == [("holds", 3, 0)]
    for at in (4, 5):
        toy.learn(at, one={**CUT, "p5.1xlarge": "9.00"})
    [held] = call(toy, "quarantine", "list")
    decided = toy.decide(6, int(str(held["quarantine_id"])), "accept", publish=False)
    assert next(decided.lines()) == "0 fetches; 0 rows read; 1 change stored"
    toy.learn(7, one={**CUT, "p5.1xlarge": "9.90"})
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.withdraw(selected(run.con, "toy/one/2026-01-08"), "a typo")
        run.publisher.publish()
    found = "select check_name from int.truth_check where result = 'differs' and check_group = 'accounting'"
    assert query(toy.data_dir / "prices.duckdb", found) == []
