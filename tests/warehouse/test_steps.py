"""Steps of a publication: each after those that it reads, on two connections."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from transform.audit.tables import TABLES
from transform.formula import statements
from transform.models import ALIASES, MACROS, MARTS, PUBLIC, made_of
from warehouse.publish import amending, building, frame, steps
from warehouse.publish.frame import Contents
from warehouse.publish.steps import Step

Work = Callable[[duckdb.DuckDBPyConnection], None]


@pytest.fixture
def pair() -> Iterator[tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]]:
    """Return two connections to one database, the first in a transaction."""
    with duckdb.connect() as first, first.cursor() as second:
        first.begin()
        yield first, second


def _table(name: str, select: str = "select 1 as n") -> Work:
    def work(con: duckdb.DuckDBPyConnection) -> None:
        con.execute(f"create table {name} as {select}")

    return work


def test_each_step_sees_what_it_reads(pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]) -> None:
    """A step is begun once all that it reads is committed, whatever their order and whoever made it."""
    queue = [
        Step("d", frozenset({"c", "b"}), _table("d", "select sum(n) as n from (from c union all from b)")),
        Step("c", frozenset({"b"}), _table("c", "select n + 1 as n from b"), is_first=True),
        Step("b", frozenset({"a", "elsewhere", "b"}), _table("b", "select n + 1 as n from a")),
        Step("a", frozenset(), _table("a")),
    ]
    steps.carry_out(queue, *pair)
    assert pair[0].execute("from d").fetchall() == [(5,)]
    pair[0].commit()


def test_two_steps_at_once(pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]) -> None:
    """Two steps that do not read one another run side by side: each waits for the other here."""
    meeting = threading.Barrier(2, timeout=20)
    used = []

    def meet(con: duckdb.DuckDBPyConnection) -> None:
        used.append(con)
        meeting.wait()

    steps.carry_out([Step("a", frozenset(), meet), Step("b", frozenset(), meet)], *pair)
    assert set(map(id, used)) == set(map(id, pair))


def test_temporary_tables_stay_with_their_connection(
    pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    """The first connection carries out all steps that need it, before others that it may take."""
    pair[0].execute("create temp table own as select 1 as n")
    used: list[tuple[str, duckdb.DuckDBPyConnection]] = []

    def of(name: str) -> Work:
        def work(con: duckdb.DuckDBPyConnection) -> None:
            used.append((name, con))
            con.execute("from own")

        return work

    steps.carry_out([Step(n, frozenset(), of(n), is_first=True) for n in "abcd"], *pair)
    assert used == [(name, pair[0]) for name in "abcd"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_step_that_fails_ends_all(
    pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection], *, is_first: bool
) -> None:
    """Its error is raised, no step is begun any more, nothing of it is kept, and the first transaction is open."""
    begun = threading.Event()

    def fail(con: duckdb.DuckDBPyConnection) -> None:
        con.execute("create table half as select 1 as n")
        begun.wait(20)
        raise ValueError("told")

    def other(con: duckdb.DuckDBPyConnection) -> None:
        begun.set()

    queue = [
        Step("fails", frozenset(), fail, is_first=is_first),
        Step("other", frozenset(), other, is_first=not is_first),
        Step("after", frozenset({"fails"}), _table("after_it")),
        Step("late", frozenset({"after"}), _table("late"), is_first=True),
    ]
    with pytest.raises(ValueError, match="told"):
        steps.carry_out(queue, *pair)
    assert pair[0].execute("select table_name from duckdb_tables()").fetchall() == []
    pair[0].rollback()


def test_steps_that_wait_for_one_another_are_named(
    pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    """A circle is an error, and no publication that never ends."""
    queue = [Step("a", frozenset(), _table("a"))]
    queue += [Step(one, frozenset({other, "a"}), _table(one)) for one, other in (("b", "c"), ("c", "b"))]
    with pytest.raises(ValueError, match="wait for one another: b, c"):
        steps.carry_out(queue, *pair)
    pair[0].rollback()


def test_nobody_waits_for_a_query_once_a_step_failed(
    pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    """As by Ctrl-C: the first connection's error ends what the second one does, however long that would take."""
    begun = threading.Event()

    def fail(_: duckdb.DuckDBPyConnection) -> None:
        begun.wait(20)
        time.sleep(0.2)  # so that the query has begun
        raise KeyboardInterrupt

    def last_long(con: duckdb.DuckDBPyConnection) -> None:
        begun.set()
        con.execute("select sum(hash(i)) from range(1000000000000) as r (i)").fetchall()

    queue = [Step("fails", frozenset(), fail, is_first=True), Step("long", frozenset(), last_long)]
    with pytest.raises(KeyboardInterrupt):
        steps.carry_out(queue, *pair)
    pair[0].rollback()


def test_nobody_waits_for_the_last_query_after_an_interrupt(
    pair: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
) -> None:
    """Ctrl-C ends the second connection's query, too, where the first one has no more to do than to wait for it."""
    begun = threading.Event()

    def last_long(con: duckdb.DuckDBPyConnection) -> None:
        begun.set()
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        con.execute("select sum(hash(i)) from range(1000000000000) as r (i)").fetchall()

    def wait(_: duckdb.DuckDBPyConnection) -> None:
        begun.wait(20)

    queue = [Step("long", frozenset(), last_long), Step("own", frozenset(), wait, is_first=True)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background has not
    try:
        with pytest.raises(KeyboardInterrupt):
            steps.carry_out(queue, *pair)
    finally:
        signal.signal(signal.SIGINT, before)
    pair[0].rollback()


def test_what_a_text_is_made_of() -> None:
    """Names count in quotes, through views and by the macro of a view; in comments they do not."""
    texts = {"int.a": "select 1", "int.b": 'from "int".a', "log.c": "from int.b", "log.c_of": "log.c", "int.d": ""}
    assert steps.made_of("from log.c_of(offers) -- and int.d\n", texts) == {"log.c_of", "log.c", "int.b", "int.a"}
    assert steps.made_of('from "int"."b" as x', texts) == {"int.b", "int.a"}


def test_every_mart_waits_for_what_it_reads(tmp_path: Path) -> None:
    """The steps of the published file wait at least for the tables that each mart's SELECT names at any remove."""
    contents = Contents(
        marts=MARTS, public=PUBLIC, macros=MACROS, aliases=ALIASES, computed=TABLES, formulas=statements(), sources=()
    )
    frame.copy(contents, tmp_path / "part")
    tables = [mart for mart in MARTS if mart.is_table]
    with duckdb.connect() as con, frame.attached(con, tmp_path / "part"):
        reads = building.reads(con, tables, {})
    names = {mart.name for mart in tables}
    for mart in tables:
        expected = {f"int.{name}" for name in made_of([mart.name]) & names}
        assert expected <= reads[mart.qualified] | {mart.qualified}, mart.name
    assert "core.sku_price" in reads["int.source_health"]  # by log.sku_price, of which it has no row without the others
    assert "int.price_history" in reads["int.spot_spell"]  # by log.price_link


@pytest.mark.parametrize(
    ("one", "other", "is_other"),
    [
        ("select 1 as n union select 2 as n", "select 2 as n union select 1 as n", False),
        ("select 1 as n union select 2 as n", "select 1 as n union select 3 as n", True),
        ("from range(2)", "from range(3)", True),
    ],
)
def test_rows_of_two_unions_are_compared_whole(one: str, other: str, *, is_other: bool) -> None:
    """What serving rates rest on is a union: where it gives the same rows they are kept."""
    with duckdb.connect() as con:
        assert amending._differ(con, one, other) is is_other
