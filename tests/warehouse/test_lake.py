"""A log in a DuckLake: equal to a file's whatever is loaded, and opened without a change."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import lake_writer
import pytest
from looks import day, look, row

from warehouse.errors import ChipledgerError, SettingsError
from warehouse.lake import ducklake
from warehouse.lake.place import Place, place
from warehouse.log import content, db
from warehouse.log.load import load

pytestmark = pytest.mark.usefixtures("unsigned_extensions")


def filled(where: Place) -> dict[str, content.TableHash]:
    """Load two rounds of a writer, and a price that jumps; return what the log holds."""
    with db.open_log(where) as con:
        for number in range(2):
            lake_writer.one_round(con, 0, number)
        load(con, [look(5, row("type-0-1", "40"), scope="scope-0", document="a jump")], recorded_at=day(6))
        return content.tables(con, ("core",))


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Place:
    """Return a new place of a lake whose catalogue is a file."""
    return place(tmp_path / "data", url=f"ducklake:sqlite:{tmp_path}/catalog.sqlite")


@pytest.mark.prove
def test_a_lake_holds_what_a_file_holds(tmp_path: Path, lake_place: Place, sqlite_place: Place) -> None:
    """Every table of core is equal, whichever catalogue; so are the refused rows, the jump that waits among them."""
    in_file = filled(place(tmp_path / "file"))

    assert filled(lake_place) == in_file
    assert filled(sqlite_place) == in_file
    assert (in_file["core.offer"].n_rows, in_file["core.quarantine"].n_rows) == (14, 1)


def test_opening_makes_no_snapshot(sqlite_place: Place) -> None:
    """Nor do macros and facts that stand there already; a lake that a newer version made is left alone."""
    with db.open_log(sqlite_place) as con:
        first = ducklake.snapshot(con)
    with db.open_log(sqlite_place) as con:
        assert ducklake.snapshot(con) == first
        n_types = con.execute("select count(*) > 50, count(*) = count(distinct instance_type) from core.instance_type")
        assert n_types.fetchone() == (True, True)
        con.execute("insert into meta.migration values ('9999_later.sql', now()::timestamp)")
    with pytest.raises(ChipledgerError, match="newer chipledger"), db.open_log(sqlite_place):
        pass


def test_other_facts_are_written_anew(sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version whose table of instance types differs brings its own, once."""
    with db.open_log(sqlite_place) as con:
        (before,) = con.execute("select count(*) from core.instance_type").fetchall()
    rows = db.instance_types.read_table()[:7]
    monkeypatch.setattr(db.instance_types, "read_table", lambda: rows)
    for _ in range(2):
        with db.open_log(sqlite_place) as con:
            assert con.execute("select count(*) from core.instance_type").fetchall() == [(7,)] != [before]
            assert con.execute("select count(*) from meta.made").fetchall() == [(2,)]


def test_a_load_that_fails_leaves_nothing_of_its_own(lake_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """No event, no look; the offers that were appended apart stay, and are not appended again."""
    with db.open_log(lake_place) as con:
        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="in the middle"):
            patch.setattr("warehouse.log.load.record", broken)
            load(con, [look(0, row("a", "1"), row("b", "2"))], recorded_at=day(0))
        counts = "select (select count(*) from core.offer), (select count(*) from core.price_event), " + (
            "(select count(*) from core.scope_run)"
        )
        assert con.execute(counts).fetchall() == [(2, 0, 0)]
        load(con, [look(0, row("a", "1"), row("b", "2"))], recorded_at=day(0))
        assert con.execute(counts).fetchall() == [(2, 2, 1)]


def broken(*_given: object, **_named: object) -> None:
    raise RuntimeError("in the middle")


def test_a_commit_that_meets_another_is_done_again(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whole, with its reason in the log; and where it never succeeds the error says that nothing was committed."""
    monkeypatch.setattr("warehouse.lake.ducklake.time.sleep", lambda seconds: None)
    with db.open_log(sqlite_place) as con:
        con.execute("create table core.tried (x INTEGER)")

        def meets(n_times: int) -> Callable[[], None]:
            left = iter(range(n_times))

            def work() -> None:
                con.execute("insert into core.tried values (1)")
                if next(left, None) is not None:
                    raise duckdb.TransactionException("Failed to commit: a conflict")

            return work

        ducklake.transacted(con, meets(2))
        assert con.execute("select count(*) from core.tried").fetchall() == [(1,)]
        assert caplog.text.count("tried again: Failed to commit: a conflict") == 2
        with pytest.raises(ChipledgerError, match="not committed in 5 tries"):
            ducklake.transacted(con, meets(9))
        assert con.execute("select count(*) from core.tried").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "postgres:dbname=x"}, "warehouse.url"),
        ({"url": "ducklake:postgres:"}, "warehouse.url"),
        ({"url": "ducklake:postgres:host=x password=canary", "data_path": "/x"}, "warehouse.url"),
        ({"url": "ducklake:postgres:host=x sslpassword='canary'", "data_path": "/x"}, "warehouse.url"),
        ({"url": "ducklake:postgres:postgresql://me:canary@x/y", "data_path": "/x"}, "warehouse.url"),
        ({"url": "ducklake:postgres:host=x"}, "warehouse.data_path"),
        ({"url": "ducklake:postgres:host=x", "data_path": "gs://x/y"}, "warehouse.data_path"),
        ({"url": "ducklake:postgres:host=x", "data_path": "/x", "schema": 'a"b'}, "warehouse.schema"),
    ],
)
def test_a_place_that_is_none_is_named(tmp_path: Path, given: dict[str, str], field: str) -> None:
    """The error names the setting, and repeats no password."""
    with pytest.raises(SettingsError) as caught:
        place(tmp_path, **given)
    assert caught.value.field == field
    assert "canary" not in str(caught.value)


def test_a_catalogue_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With what to do meanwhile."""
    where = place(tmp_path, url="ducklake:postgres:host=127.0.0.1 port=1 dbname=x", data_path=str(tmp_path / "files"))
    with pytest.raises(ChipledgerError, match="shared warehouse cannot be opened") as caught, db.open_log(where):
        pass
    assert caught.value.field == "warehouse.url"
    assert ': connection to server at "127.0.0.1", port 1 failed: Connection refused' in caught.value.message
