"""What is held by counts and ratios, which no busy machine changes: lines read, rows written, statements, memory.

`python -m bench` measures seconds, by hand; these tests find on every change what would make them longer.
"""

import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from counted import Counted
from looks import Row, day, look, memory, refused, row
from price_list_files import P5, Line, offer_csv
from standin import aws

from extract.aws import price_list
from extract.aws.price_list import parse
from flows.collect import steps
from flows.config.settings import Settings
from warehouse.log import db, moves
from warehouse.log.load import load

WANTED, ALIKE, OTHERS = 20, 180, 1800
"""Lines of one megabyte or so: of accelerators; of the same operation, but no accelerators; of other operations."""
HEAD = 6
"""Lines before the first price: five of a preamble, and the header."""
M5: Line = P5 | {"Instance Type": "m5.large", "Instance Family": "General purpose", "GPU": ""}
TABLES = ("offer", "price_event", "sighting", "scope_run", "quarantine")


def lines() -> Iterator[Line]:
    """Yield the lines of a made list: each wanted line is followed by nine that look like it and ninety that do not."""
    for number in range(WANTED):
        yield P5 | {"SKU": f"WANTED{number:010d}", "RateCode": f"WANTED{number:010d}.JRTCKXETXF.6YS6EN2CT7"}
        for other in range(ALIKE // WANTED):
            yield M5 | {"SKU": f"ALIKE{number:05d}{other:06d}", "Instance Type": f"m5.{number}x{other}"}
        for other in range(OTHERS // WANTED):
            yield M5 | {"SKU": f"OTHER{number:05d}{other:06d}", "operation": "RunInstances:0002"}


@pytest.fixture(scope="module")
def made() -> bytes:
    """Return the made list."""
    return offer_csv(lines())


def longer(made: bytes, others: bytes, times: int) -> Iterator[bytes]:
    """Yield a list in blocks: the made one, and so many times the lines of other operations."""
    yield made
    for _ in range(times):
        yield bytes(bytearray(others))  # a block of its own, as one from the network is


def test_of_a_bulk_list_only_lines_of_the_operation_are_read(made: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2,000 lines the 200 of the operation are looked at, each once, and the 20 of accelerators kept and parsed."""
    read = Counter[str]()
    keep, reader = price_list._Selector._keep, price_list.csv.reader
    monkeypatch.setattr(price_list._Selector, "_keep", lambda self, line: read.update(["line"]) or keep(self, line))
    monkeypatch.setattr(
        price_list.csv, "reader", lambda *given, **named: read.update(["csv"]) or reader(*given, **named)
    )
    blocks = [made[start : start + 65536] for start in range(0, len(made), 65536)]

    found = price_list.cut(iter(blocks), url="https://x/index.csv")

    assert read["line"] == WANTED + ALIKE
    assert read["csv"] == WANTED + ALIKE + HEAD
    assert found.body.count(b"\n") == WANTED + HEAD
    assert found.whole.size == len(made)


def test_memory_for_a_bulk_list_does_not_grow_with_the_list(made: bytes) -> None:
    """No more is held of forty or of eighty blocks than are read."""
    others = b"".join(line for line in made.splitlines(keepends=True) if b'"RunInstances:0002"' in line)
    held = 5  # the block, the one made next, and the copies of the first
    for times in (40, 80):
        tracemalloc.start()
        found = price_list.cut(longer(made, others, times), url="https://x/index.csv")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

        assert found.whole.size == len(made) + times * len(others)
        assert peak <= held * len(made)
        assert peak <= found.whole.size / 2


def test_the_excerpt_is_parsed_row_by_row(made: bytes) -> None:
    """Each line that was kept gives one price."""
    from price_list_files import document

    rows = parse(document(price_list.cut([made], url="https://x/index.csv").body)).rows

    assert rows.height == WANTED


def market(n_prices: int, moved: Iterable[int] = ()) -> list[Row]:
    """Return so many prices, some of which have moved."""
    up = set(moved)
    return [row("p5.48xlarge", "56.04" if n in up else "55.04", region_id=f"region-{n}") for n in range(n_prices)]


def a_day(folder: Path, n_prices: int) -> tuple[Counter[str], Counter[str]]:
    """Return what the second of two days of so many prices adds to each table, and what it asks."""
    with db.writer(folder) as con:
        load(con, [look(0, *market(n_prices))], recorded_at=day(0))
        before = sizes(con)
        counted = Counted(con)
        load(counted, [look(1, *market(n_prices, range(0, n_prices, 100)))], recorded_at=day(1))  # type: ignore[arg-type]
        return sizes(con) - before, counted.counts


def sizes(con: duckdb.DuckDBPyConnection) -> Counter[str]:
    """Return the number of rows of each table."""
    return Counter({name: con.sql(f"from core.{name}").shape[0] for name in TABLES})


def test_a_load_appends_what_changed(tmp_path: Path) -> None:
    """Of 500 and of 2,000 prices 1 % changed: so many events, a look, nothing else; as many statements for both.

    Rows that Python gets are those that changed, which gates judge, and as many others for both.
    """
    (few, asked_of_few), (many, asked_of_many) = a_day(tmp_path / "few", 500), a_day(tmp_path / "many", 2000)

    assert few == {"price_event": 5, "scope_run": 1}
    assert many == {"price_event": 20, "scope_run": 1}
    assert asked_of_many["statements"] == asked_of_few["statements"]
    assert asked_of_many["rows"] - 20 == asked_of_few["rows"] - 5
    assert 0 < asked_of_few["statements"] < 100
    assert asked_of_few["rows"] < 100


def test_a_load_of_a_day_asks_nothing_of_history() -> None:
    """What a price was before is asked of the open prices: of all events and closed ones for rows of the past alone."""
    asked: list[str] = []

    class Noted(Counted):
        def execute(self, *given: Any, **named: Any) -> Counted:
            asked.append(given[0])
            return super().execute(*given, **named)

    with memory() as con:
        load(con, [look(0, *market(100))], recorded_at=day(0))
        load(Noted(con), [look(1, *market(100, [7]))], recorded_at=day(1))  # type: ignore[arg-type]
        assert con.sql("from core.price_event").shape[0] == 101
        of_a_day = asked[:]
        load(Noted(con), [look(-1, *market(100, [8]), archived=True)], recorded_at=day(2))  # type: ignore[arg-type]

    def asks_history(text: str) -> bool:
        return any(f"from {name}" in text for name in ("core.price_event", "core.standing_event", "log.price_closed"))

    assert not list(filter(asks_history, of_a_day))
    assert list(filter(asks_history, asked[len(of_a_day) :]))


@pytest.mark.parametrize(
    ("door", "first", "again"),
    [
        # Two indexes, and the file of each of two regions; the indexes say that the version was landed.
        ("bulk", {"requests": 4, "us-east-1": 1, "us-west-2": 1}, {"requests": 2, "us-east-1": 0, "us-west-2": 0}),
        # A page for all products: the API does not say what is new.
        ("api", {"requests": 2, "us-east-1": 1, "us-west-2": 1}, {"requests": 2, "us-east-1": 1, "us-west-2": 1}),
    ],
)
def test_a_scope_costs_its_own_requests(
    standin: aws.StandIn, tmp_path: Path, door: str, first: dict[str, int], again: dict[str, int]
) -> None:
    """So many requests for two regions, of them so many for each; and fewer where nothing is new."""
    table = {"access": door, "bulk_url": standin.url}
    settings = Settings(data_dir=tmp_path / "data", sources={"aws_price_list": table})
    regions = ("us-east-1", "us-west-2")
    label = {"bulk": "bulk:{}", "api": "api:GetProducts:{}"}[door]
    for expected in (first, again):
        standin.forget()
        with steps.open_run(settings) as run:
            run.collector.fetch_in_threads(run.plan(run.collector.sources(["aws_price_list"]), regions), run.land)
            run.load()
            assert not run.summary.failed
        asked = {name: standin.count(label.format(name)) for name in regions}
        assert {"requests": standin.count(), **asked} == expected


@pytest.mark.parametrize(("words", "most"), [(["--help"], 190), (["query", "select 1"], 280)])
def test_a_quick_command_loads_few_modules(tmp_path: Path, words: list[str], most: int) -> None:
    """Importing is most of what a quick command does: its modules are counted, those of Python itself among them."""
    duckdb.connect(tmp_path / "prices.duckdb").close()
    script = (
        "import sys; from flows.cli.main import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print(len(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "--data-dir", str(tmp_path), *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert 0 < int(done.stderr) <= most


def test_a_command_gives_memory_of_frames_back() -> None:
    script = (
        "import sys, flows.cli.collect_commands\n"
        "import polars as pl\n"
        "kept = lambda: int(open('/proc/self/statm').read().split()[1])\n"
        "first = kept()\n"
        "frame = pl.select(pl.int_range(1_000_000).cast(pl.String).alias(str(at)) for at in range(6)).sort('0')\n"
        "most = kept(); del frame\n"
        "print(first, most, kept())"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    first, most, last = (int(pages) for pages in done.stdout.split())
    assert last - first < (most - first) / 2


def test_prices_that_wait_cost_no_statement_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 and of 200 prices that each moved by a factor of its own all wait; neither is any compared with each."""
    compared = Counter[str]()
    for name in ("Move", "_Span"):
        monkeypatch.setattr(getattr(moves, name), "__eq__", lambda *_, name=name: compared.update([name]) or False)
    asked = []
    for n in (20, 200):
        with memory() as con:
            load(
                con,
                [look(0, *(row("p5.48xlarge", "10.1234", region_id=f"r{at}") for at in range(n)))],
                recorded_at=day(0),
            )
            counted = Counted(con)
            moved = [row("p5.48xlarge", f"{20.51 + at * 0.04:.2f}", region_id=f"r{at}") for at in range(n)]
            load(counted, [look(1, *moved)], recorded_at=day(1))  # type: ignore[arg-type]
            assert len(refused(con)) == n
            asked.append(counted.counts["statements"])
    assert asked[0] == asked[1]
    assert not compared
