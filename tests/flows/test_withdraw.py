"""Prices that were learnt wrong are taken back: the history reads as if they had not been, and what was known stays."""

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from looks import day
from toy_source import TOY, Prices, Toy, installed

from extract.base import Context
from flows.cli.main import main
from flows.collect import importer, steps
from flows.collect.collector import FetchResult
from flows.config.settings import Settings
from warehouse.documents import ScopeFetch
from warehouse.errors import ChipledgerError
from warehouse.log.events import naive
from warehouse.log.quarantine import listed
from warehouse.log.withdraw import selected

INTERVALS = (
    "select o.instance_type, p.source, p.valid_from, p.valid_to, p.last_observed_at, p.unit_price, p.upfront_price "
    "from core.price_known_at(TIMESTAMP '{}') as p inner join core.offer as o on p.offer_id = o.offer_id order by all"
)
Rows = list[tuple[object, ...]]
SEEDS = (1, 4, *range(10, 32), *range(33, 51))
"""Of histories whose withdrawn days told something: those of 32 said what was known."""


def intervals(toy: Toy, moment: datetime) -> Rows:
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        return run.con.execute(INTERVALS.format(naive(moment))).fetchall()


def withdraw(toy: Toy, at: float, days: list[int]) -> None:
    toy.at = at
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        fetches = [one for each in days for one in selected(run.con, f"{TOY}/one/{day(each):%Y-%m-%d}")]
        run.withdraw(fetches, "prices of a node")


def made_up(seed: int, n_days: int) -> dict[int, Prices]:
    """Return the prices of each day: offers that move a little, go and come back beside some that stand."""
    chance = random.Random(seed)  # noqa: S311
    least = {"p5.48xlarge": 40, "p4d.24xlarge": 20, "p3.16xlarge": 24}
    now: Prices = dict.fromkeys(least)
    world = {}
    standing = dict.fromkeys((f"g6.{number}xlarge" for number in range(2, 12)), "1.00")  # no fetch looks cut short
    for number in range(n_days):
        for name in now:
            if chance.random() < 0.4:
                now[name] = None if chance.random() < 0.2 else f"{least[name] * (1 + chance.randrange(60) / 100):.2f}"
        world[number] = {name: price for name, price in now.items() if price} | standing
    return world


def learnt(folder: Path, world: Mapping[int, Prices], monkeypatch: pytest.MonkeyPatch) -> Toy:
    toy = installed(monkeypatch, folder)
    for number, prices in world.items():
        (result,) = toy.learn(number, one=prices).results
        assert result.status == "ok", number
    return toy


@pytest.mark.parametrize(
    ("seed", "n_days"),
    [(39, 3), *(pytest.param(seed, n, marks=pytest.mark.prove) for seed, n in ((7, 4), *((s, 9) for s in SEEDS)))],
)
def test_the_history_reads_as_if_it_had_not_been(
    tmp_path: Path, seed: int, n_days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a withdrawal the intervals are those of a log that never had the fetches; before it they are as they were.

    A log that is made anew from the landing folder has the same. `make prove` has 43 histories of more days.
    """
    chance = random.Random(seed)  # noqa: S311
    world = made_up(seed, n_days)
    days = sorted(chance.sample(range(n_days), chance.randrange(1, 4)))
    without = learnt(tmp_path / "without", {n: prices for n, prices in world.items() if n not in days}, monkeypatch)
    expected = intervals(without, day(40))
    whole = learnt(tmp_path / "whole", world, monkeypatch)
    before = intervals(whole, day(20))
    withdraw(whole, 30, days)

    assert intervals(whole, day(40)) == expected
    assert intervals(whole, day(29)) == before != expected
    (whole.data_dir / "build.duckdb").unlink()
    assert intervals(whole, day(40)) == expected
    assert intervals(whole, day(29)) == before


def test_the_next_day_goes_on_from_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The price that was taken back is no measure of the next one, nor refused then; a fetch is taken back once."""
    toy = learnt(tmp_path, {0: {"g5.xlarge": "1.00"}, 1: {"g5.xlarge": "1.60"}}, monkeypatch)
    dry_run = ("withdraw", f"{TOY}/one/2026-01-02", "--reason", "a typo", "--dry-run", "--json")
    told = CliRunner().invoke(main, ["--data-dir", str(tmp_path), *dry_run])
    assert json.loads(told.stdout)["events"] == 1
    words = CliRunner().invoke(main, ["--data-dir", str(tmp_path), *dry_run[:-1]]).stdout
    assert words.startswith("would withdraw: 1 fetch, 1 price change of 1 offer, 2026-01-02")
    withdraw(toy, 2, [1])
    toy.learn(3, one={"g5.xlarge": "1.00"})
    (found,) = intervals(toy, day(9))

    assert [str(value) for value in found[2:6]] == [
        "2026-01-01 00:00:00",
        "None",
        "2026-01-04 00:00:00",
        "1.0000000000",
    ]
    with pytest.raises(ChipledgerError, match="no fetch that counts is of these days") as error:
        withdraw(toy, 4, [1])
    assert f"of {TOY}/one: 2026-01-04, 2026-01-01" in str(error.value)

    toy.learn(5, one={"g5.xlarge": "9"})
    withdraw(toy, 6, [5])
    toy.learn(7, one={"g5.xlarge": "9"})
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        assert [row.observed_at for row in listed(run.con)] == [naive(day(7))]


def test_an_archive_may_be_withdrawn_and_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backfilled anew its past fetch counts, as a file does that is imported anew."""
    toy = installed(monkeypatch, tmp_path)
    toy.world["one"], toy.at = {"g5.xlarge": "1.00"}, 3
    ctx = Context(web=None, settings={}, now=lambda: day(3))  # type: ignore[arg-type]
    past = FetchResult(source=TOY, scope="one", fetches=(replace(toy.fetch(ctx, "one"), archived=True),))
    for at in (10, 30):
        toy.at = at
        with steps.open_run(toy.settings(), clock=toy.clock) as run:
            run.land(past)
            run.load()
        if at == 10:
            withdraw(toy, 20, [3])
            assert intervals(toy, day(40)) == []

    assert [str(row[5])[:4] for row in intervals(toy, day(40))] == ["1.00"]


def test_another_machine_has_a_clock_that_is_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it saw since stays, and a refusal resolves what it held; a log made anew from the landing folder agrees."""
    standing = dict.fromkeys((f"g6.{number}xlarge" for number in range(2, 6)), "1.00")
    days = {
        number: {"g5.xlarge": price} | standing for number, price in {0: "1.00", 1: "1.60", 7: "1.60", 8: "9"}.items()
    }
    toy = learnt(tmp_path, days, monkeypatch)
    withdraw(toy, 2, [1])
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        (held,) = listed(run.con)
        run.decide(held.quarantine_id, "refuse")

    for log in ("as it is", "made anew"):
        if log == "made anew":
            (toy.data_dir / "build.duckdb").unlink()
        found = [(row[2], str(row[5])[:4]) for row in intervals(toy, day(40)) if row[0] == "g5.xlarge"]
        assert found == [(naive(day(0)), "1.00"), (naive(day(7)), "1.60")], log
        with steps.open_run(toy.settings(), clock=toy.clock) as run:
            assert listed(run.con) == [], log


HEAD = "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type,gpu_raw,gpu_count,source\n"
WRONG, RIGHT = (
    f"{HEAD}2025-06-01T00:00:00Z,Acme,eu-1,on_demand,16.00,m8,H100 SXM,8,desk\n"
    f"2025-07-31T00:00:00Z,Acme,eu-1,on_demand,{price},m8,H100 SXM,8,desk\n"
    for price in ("20.80", "16.50")
)
"""Two files of one source that agree on the first price, and not on the second."""


@pytest.mark.parametrize("is_imported_before", [False, True])
def test_a_file_that_replaces_another_says_all_that_it_says(tmp_path: Path, is_imported_before: bool) -> None:
    """What both say as well, also where it was imported before and contradicted the other; known-then is as it was."""
    wrong, right = tmp_path / "wrong.csv", tmp_path / "right.csv"
    wrong.write_text(WRONG, encoding="utf-8")
    right.write_text(RIGHT, encoding="utf-8")
    moments = iter(range(40, 90))

    def told(file: Path, *, replaces: Path | None = None) -> list[tuple[str, str]]:
        with steps.open_run(Settings(data_dir=tmp_path / "data"), clock=lambda: day(next(moments))) as run:
            if replaces:
                importer.withdraw_file(run, str(replaces), [importer.landed(file, run.clock())])
            importer.land(run, importer.landed(file, run.clock()))
            run.load()
            found = run.con.execute(INTERVALS.format("9999-01-01 00:00:00")).fetchall()
        return [(f"{row[2]:%m-%d}", f"{row[5]:.2f}") for row in found]

    assert told(wrong) == [("06-01", "16.00"), ("07-31", "20.80")]
    if is_imported_before:
        assert told(right) == [("06-01", "16.00")]
    assert told(right, replaces=wrong) == [("06-01", "16.00"), ("07-31", "16.50")]


def test_a_file_may_be_withdrawn_and_come_again(tmp_path: Path) -> None:
    """What other files of its source saw since stays, each at its own day; a copy that comes later counts anew.

    Also where it comes by a clock behind that of the withdrawal; a log made anew from the landing folder agrees.
    """
    files = []
    for on, price in (("01", "26.00"), ("05", "20.00"), ("10", "20.00"), ("15", "21.00")):
        text = f"{HEAD}2025-06-{on}T00:00:00Z,Acme,eu-1,on_demand,{price},m8,H100 SXM,8,desk\n"
        files.append(tmp_path / f"{on}.csv")
        files[-1].write_text(text, encoding="utf-8")
    found = []
    with steps.open_run(Settings(data_dir=tmp_path / "data"), clock=map(day, range(90, 40, -1)).__next__) as run:
        for each in files:
            importer.land(run, importer.landed(each, run.clock()))
        run.load()
        for is_withdrawn in (True, False, True):
            if is_withdrawn:
                run.withdraw(selected(run.con, hashlib.sha256(files[1].read_bytes()).hexdigest()), "a typo")
            else:
                importer.land(run, importer.landed(files[1], run.clock()))
                run.load()
            found.append(run.con.execute(INTERVALS.format("9999-01-01 00:00:00")).fetchall())
    (tmp_path / "data/build.duckdb").unlink()
    with steps.open_run(Settings(data_dir=tmp_path / "data")) as run:
        assert run.con.execute(INTERVALS.format("9999-01-01 00:00:00")).fetchall() == found[-1]
    days = [[f"{row[2]:%d} {row[5]:.2f}" for row in rows] for rows in found]
    without = ["01 26.00", "10 20.00", "15 21.00"]
    assert days == [without, ["01 26.00", "05 20.00", "15 21.00"], without]


def test_a_withdrawn_file_holds_nothing_back(tmp_path: Path) -> None:
    """What contradicted it counts, what waited of it is closed; imported again, it waits and contradicts anew."""
    files = []
    for prices in ({1: "16.32", 10: "16.00", 26: "80"}, {1: "16.00", 9: "16.00", 25: "16.00"}):
        lines = (
            f"2025-06-{on:02}T00:00:00Z,Acme,eu-1,on_demand,{price},m8,H100 SXM,8,desk\n"
            for on, price in prices.items()
        )
        files.append(tmp_path / f"{len(files)}.csv")
        files[-1].write_text(HEAD + "".join(lines), encoding="utf-8")
    waits, known = [], []
    with steps.open_run(Settings(data_dir=tmp_path / "data"), clock=map(day, range(40, 90)).__next__) as run:
        for file in (*files, None, files[0], None):
            if file:
                importer.land(run, importer.landed(file, run.clock()))
                run.load()
            else:
                run.withdraw(selected(run.con, hashlib.sha256(files[0].read_bytes()).hexdigest()), "a typo")
            waits.append([f"{row.observed_at:%d}" for row in listed(run.con)])
            found = run.con.execute(INTERVALS.format("9999-01-01 00:00:00")).fetchall()
            known.append([f"{row[2]:%d} {row[5]:.2f} {row[4]:%d}" for row in found])

    assert waits == [["26"], ["01", "26"], [], ["01", "26"], []]
    assert known[1::2] == [["09 16.00 25"]] * 2
    assert known[2::2] == [["01 16.00 25"]] * 2


def test_a_fetch_is_selected_by_any_of_its_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by one that is not its first, such as the one that a page names: every fetch that had it."""
    rest = b'{"prices": [{"instance_type": "g6.xlarge", "unit_price": "1.00"}]}'

    def fetch(self: Toy, ctx: Context, scope: str) -> ScopeFetch:
        one = one_document(self, ctx, scope)
        return replace(one, documents=(*one.documents, replace(one.documents[0], url="toy:rest", body=rest)))

    one_document = Toy.fetch
    monkeypatch.setattr(Toy, "fetch", fetch)
    toy = learnt(tmp_path, {0: {"g5.xlarge": "1.00"}, 1: {"g5.xlarge": "1.10"}}, monkeypatch)
    words = ("withdraw", hashlib.sha256(rest).hexdigest()[:12], "--reason", "a typo", "--dry-run", "--json")
    told = json.loads(CliRunner().invoke(main, ["--data-dir", str(toy.data_dir), *words]).stdout)

    assert (told["fetches"], told["events"], told["offers"]) == (2, 3, 2)


def test_an_import_is_selected_by_its_day(tmp_path: Path) -> None:
    """Of the day that it was imported on, and by the name of its source, which has a slash."""
    file = tmp_path / "told.csv"
    file.write_text(WRONG.replace("desk", "desk/prices"), encoding="utf-8")
    with steps.open_run(Settings(data_dir=tmp_path / "data"), clock=lambda: day(40)) as run:
        importer.land(run, importer.landed(file, run.clock()))
        run.load()
        (found,) = selected(run.con, f"import:desk/prices/told.csv/{day(40):%Y-%m-%d}")

    assert (found.source, found.scope, found.archived) == ("import:desk/prices", "told.csv", True)
