"""A publish knows what it replaces: never another history, or a shorter one, unless a person says that it is meant."""

import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from published import query
from toy_source import Toy, installed

from flows.backup import replicas
from flows.cli.main import main
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.errors import ChipledgerError
from warehouse.log.withdraw import selected
from warehouse.publish import published_file

N_EVENTS = "select count(*) from core.price_event"
ID = "select history_id from meta.build"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with a history of three events, published; copy it."""
    folder = tmp_path_factory.mktemp("published") / "data"
    with published_with(least=()), pytest.MonkeyPatch.context() as patch:
        made = installed(patch, folder)
        made.learn(0, one={"p5.48xlarge": "10", "g6.xlarge": "1"})
        made.run(1, one={"p5.48xlarge": "11", "g6.xlarge": "1"})
    return folder


@pytest.fixture
def toy(published: Path, least_marts: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toy:
    """Return a toy with a history of three events, published."""
    made = installed(monkeypatch, tmp_path / "data")
    made.at, made.world = 1, {"one": {"p5.48xlarge": "11", "g6.xlarge": "1"}}
    shutil.copytree(published, made.data_dir)
    return made


def chipledger(toy: Toy, *words: str) -> Result:
    return CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), *words])


def lose_the_mount(toy: Toy) -> bytes:
    """Remove landing and log; return the published file, which stays."""
    shutil.rmtree(toy.data_dir / "landing")
    (toy.data_dir / "build.duckdb").unlink()
    return (toy.data_dir / "prices.duckdb").read_bytes()


@pytest.mark.parametrize("command", ["collect", "build"])
def test_a_lost_mount_replaces_nothing(toy: Toy, command: str) -> None:
    """Landing and log are gone: the command fails, says both histories and what to do, and the file stays as it is."""
    before = lose_the_mount(toy)
    toy.world = {"one": {"p5.48xlarge": "12", "g6.xlarge": "1"}}

    done = chipledger(toy, command)

    assert done.exit_code == 1
    assert "not published: another history than the standing file has" in done.stderr
    assert f"with {2 if command == 'collect' else 0} events would replace history" in done.stderr
    assert "with 3 events" in done.stderr
    assert "not mounted" in done.stderr
    assert "`chipledger build --new-history` keeps the old file in replaced/" in done.stderr
    assert (toy.data_dir / "prices.duckdb").read_bytes() == before
    assert not (toy.data_dir / "replaced").exists()


def test_a_new_history_is_published_when_it_is_meant(toy: Toy) -> None:
    """With --new-history the file is replaced, the old one is kept whole, and runs go on without the option."""
    before = lose_the_mount(toy)
    toy.world = {"one": {"p5.48xlarge": "12", "g6.xlarge": "1"}}
    toy.learn(2)

    assert chipledger(toy, "build", "--new-history").exit_code == 0

    (kept,) = (toy.data_dir / "replaced").iterdir()
    assert kept.name.startswith("prices-")
    assert kept.read_bytes() == before
    file = toy.data_dir / "prices.duckdb"
    assert query(file, N_EVENTS) == [(2,)]
    assert query(file, ID) != query(kept, ID)
    assert chipledger(toy, "collect").exit_code == 0
    assert chipledger(toy, "build", "--new-history").exit_code == 0
    assert list((toy.data_dir / "replaced").iterdir()) == [kept]


def test_a_history_that_lost_events_is_refused(toy: Toy) -> None:
    """The same history, cut in landing and log at once, as an old snapshot of both disks is."""
    journal = toy.data_dir / "landing/journal.jsonl"
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])
    (toy.data_dir / "build.duckdb").unlink()

    done = chipledger(toy, "build")

    assert done.exit_code == 1
    assert "not published: fewer recorded events than the standing file has" in done.stderr
    assert "with 2 events would replace history" in done.stderr
    assert query(toy.data_dir / "prices.duckdb", N_EVENTS) == [(3,)]


@pytest.mark.usefixtures("log_alone")
def test_the_id_goes_where_the_journal_goes(toy: Toy, tmp_path: Path) -> None:
    """Rebuilding the log by hand or by command, and moving it into another warehouse, keep the id."""
    file = toy.data_dir / "prices.duckdb"
    ((found,),) = query(file, ID)
    assert found

    toy.rebuild(2)
    assert query(file, ID) == [(found,)]
    assert replicas.rebuild(toy.settings(), clock=toy.clock).is_in_use
    assert query(file, ID) == [(found,)]
    target = Settings(data_dir=tmp_path / "moved")
    replicas.migrate(toy.settings(), target, clock=toy.clock, progress=lambda message: None)
    assert query(tmp_path / "moved/prices.duckdb", ID) == [(found,)]
    toy.data_dir = tmp_path / "moved"
    toy.run(3, one={"p5.48xlarge": "12", "g6.xlarge": "1"})
    assert query(tmp_path / "moved/prices.duckdb", "select history_id, count(*) from meta.build, core.price_event "
                 "group by all") == [(found, 4)]  # fmt: skip


def test_a_retracted_event_counts(toy: Toy, tmp_path: Path) -> None:
    """A withdrawal takes nothing from what was recorded, so that it is published."""
    file = toy.data_dir / "prices.duckdb"
    before = shutil.copy(file, tmp_path)
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        toy.at = 2
        run.withdraw(selected(run.con, "toy/one/2026-01-02"), "a typo")
        run.publisher.publish()

    ((n_events,),) = query(file, N_EVENTS)
    assert n_events > 3
    assert f"with {n_events} events" in str(published_file.other_history(Path(before), file))


def as_before(file: Path) -> None:
    """Give a published file no id, as the version before did."""
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("alter table meta.build drop column history_id")


def test_a_file_of_the_version_before_is_judged_by_its_events(toy: Toy) -> None:
    """Without an id it is replaced by as many events or more, and not by fewer."""
    file = toy.data_dir / "prices.duckdb"
    as_before(file)
    with duckdb.connect(str(toy.data_dir / "build.duckdb")) as con:
        con.execute("delete from meta.history")

    assert chipledger(toy, "build").exit_code == 0
    assert query(file, ID)[0][0]

    as_before(file)
    lose_the_mount(toy)
    refused = chipledger(toy, "build")
    assert refused.exit_code == 1
    assert "a history without id with 0 events would replace a history without id with 3 events" in refused.stderr


@pytest.mark.usefixtures("log_alone")
def test_a_rebuild_of_another_landing_needs_a_yes(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is lost and landing is somebody else's: refused, and with --accept the old file is kept."""
    file = toy.data_dir / "prices.duckdb"
    before = lose_the_mount(toy)
    other = installed(monkeypatch, tmp_path / "other")
    other.learn(5, one={"p5.48xlarge": "12", "g6.xlarge": "1"})
    shutil.copytree(tmp_path / "other/landing", toy.data_dir / "landing")

    with pytest.raises(ChipledgerError, match="another history") as refused:
        replicas.rebuild(toy.settings(), clock=toy.clock)

    assert "`chipledger data rebuild --accept`" in str(refused.value)
    assert file.read_bytes() == before
    assert replicas.rebuild(toy.settings(), accept=True, clock=toy.clock).is_in_use
    assert [path.read_bytes() for path in (toy.data_dir / "replaced").glob("prices-*")] == [before]


def test_the_archive_started_anew_is_the_same_history(offline_run: Path, least_marts: None, tmp_path: Path) -> None:
    """It can be replayed at any time, so that its directory may lose landing and log; the old file is kept."""
    shutil.copytree(offline_run, tmp_path / "data", ignore=shutil.ignore_patterns("reports", "landing", "cache"))
    (tmp_path / "data/build.duckdb").unlink()
    ((n_events,),) = query(tmp_path / "data/prices.duckdb", N_EVENTS)
    scopes = ("verda_2026-08", "verda_2026-10")

    done = steps.run(
        Settings(data_dir=tmp_path / "data"), offline=True, source_names=("price_archive",), scopes=scopes,
    )  # fmt: skip

    assert done.file
    (kept,) = (tmp_path / "data/replaced").iterdir()
    assert query(kept, N_EVENTS) == [(n_events,)] > query(done.file, N_EVENTS)
