"""A file that is amended day by day is the file that would be made from nothing."""

import itertools
import random
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from cost_file import run
from few_marts import needed, published_with
from log_days import rate, told
from looks import Row, day, look, row
from two_files import MARTS, chip, dated, differences, n_amended, put

from flows.collect import publisher
from warehouse.errors import ChipledgerError
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.load import decide
from warehouse.log.parsed import ParsedFetch
from warehouse.log.quarantine import listed
from warehouse.log.shared_rows import free_number
from warehouse.publish import chains, published_file
from warehouse.reference import throughput

LEAST = {
    "p5.48xlarge": 20, "p5en.48xlarge": 24, "p4d.24xlarge": 12, "g6.xlarge": 0.6, "trn1.2xlarge": 1, "inf2.xlarge": 0.6,
    "g5.xlarge": 1, "H100": 2, "H200": 2.5, "B200": 4, "A100 SXM": 1.2, "L40S": 0.9,
}  # fmt: skip
"""Prices that no gate holds on first sight; those of chips are of one."""
TYPES = tuple(name for name in LEAST if "." in name)
CHIPS = tuple(name for name in LEAST if "." not in name)


class World:
    """Made-up prices that move, err, go, come back, wait in quarantine, and are learnt late or from several sources."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - chance, no secret
        self.price = {name: least * self.dice.uniform(1, 2) for name, least in LEAST.items()}
        self.host = {number: self.dice.uniform(1, 4) for number in range(8)}

    def looks(self, at: int) -> Iterator[ParsedFetch]:
        """Yield the looks that are learnt on a day."""
        dice, now = self.dice, at + 0.25
        for name in self.price:
            if dice.random() < 0.12:
                self.price[name] *= dice.choice((0.8, 0.95, 1.05, 1.3, 8, 1 / 8, 10, 0.1, 2.4))
        for region in ("us-east-1", "eu-west-1", "ap-south-1"):
            if dice.random() < 0.85:
                yield look(now, *self.aws(region_id=region), scope=region)
            if dice.random() < 0.85:
                yield look(now, *self.spot(region), scope=f"spot {region}", source="aws_spot")
                if dice.random() < 0.5:
                    yield look(now + 0.2, *self.spot(region), scope=f"spot {region}", source="aws_spot")
        if dice.random() < 0.8:
            shown = self.nebius()
            yield look(now, *shown, scope="nebius", source="nebius", complete=dice.random() < 0.8)
        if dice.random() < 0.8:
            yield look(now, *self.market(), scope="vast", source="market")
        past = at - dice.uniform(0.5, 9)
        if past > 0 and dice.random() < 0.12:
            rows = self.aws(region_id=dice.choice(("us-east-1", "us-west-2")))
            yield look(past, *rows, complete=False, archived=True, source="offline_archive", scope="old")
        if past > 0 and dice.random() < 0.08:
            yield look(past, *self.aws(), scope="us-east-1")
        if past > 0 and dice.random() < 0.2:
            yield self.imported(past, dice.choice(("import:a", "import:changes")))

    def aws(self, **others: object) -> list[Row]:
        shown = [name for name in TYPES if self.dice.random() < 0.93] or [TYPES[0]]
        return [row(name, f"{self.price[name]:.4f}", **others) for name in shown]

    def spot(self, region: str) -> list[Row]:
        shown = [name for name in TYPES if self.dice.random() < 0.95] or [TYPES[0]]
        prices = {name: self.price[name] * self.dice.choice((0.4, 0.4, 0.5)) for name in shown}
        return [
            row(name, f"{price:.4f}", purchase_option="spot", region_id=region, availability_zone_id=f"{region}-az1")
            for name, price in prices.items()
        ]

    def nebius(self) -> list[Row]:
        rows = []
        for name in CHIPS:
            if self.dice.random() < 0.93:
                on_demand = f"{self.price[name]:.2f}"
                spot = on_demand if self.dice.random() < 0.05 else f"{self.price[name] * 0.5:.2f}"
                rows += [self.chip(name, on_demand), self.chip(name, spot, purchase_option="spot")]
        return rows or [self.chip("H100", "2")]

    def market(self) -> list[Row]:
        for number in self.host:
            if self.dice.random() < 0.4:
                self.host[number] *= self.dice.choice((0.9, 1.1, 1.5, 0.97))
        return [
            self.chip(
                "H100", f"{price:.3f}", service_provider_name="Vast", purchase_option="spot", tier="marketplace",
                region_id=f"host {number}", pricing_currency="USD",
            )
            for number, price in self.host.items()
            if self.dice.random() < 0.9
        ]  # fmt: skip

    def chip(self, label: str, price: str, **others: object) -> Row:
        return chip(label, price, **({"pricing_currency": "EUR"} | others))

    def imported(self, at: float, source: str) -> ParsedFetch:
        # Of one provider others tell, too; of the other, imports alone.
        provider = self.dice.choice(("Nebius", "Foundry"))
        chips = [self.chip(each, f"{self.price[each]:.2f}", service_provider_name=provider)
                 for each in self.dice.sample(CHIPS, 2 if provider == "Nebius" else 4)]  # fmt: skip
        days = [at - self.dice.choice((0, 0, 1, 3)) for _ in chips]
        made = look(
            at, *chips, source=source, scope="history", complete=False, archived=True, document=f"{source} {at}"
        )
        return dated(made, *days)

    def settle(self, con: duckdb.DuckDBPyConnection, at: float) -> None:
        """Decide on one of the prices that wait, sometimes."""
        waiting = [each for each in listed(con) if each.gate == "history"]
        if waiting and self.dice.random() < 0.2:
            one = self.dice.choice(waiting)
            decide(con, one.quarantine_id, self.dice.choice(("accept", "refuse")), decided_by="me", recorded_at=day(at))

    def retract(self, con: duckdb.DuckDBPyConnection, at: float) -> None:
        """Take a recorded price back, sometimes."""
        if self.dice.random() < 0.2:
            con.execute(
                "create or replace temp table taken as "
                "select o.offer_no, e.*, (select min(document_no) from log.document as d where e.document_sha256 = "
                "d.document_sha256) as document_no from core.price_event as e "
                "inner join core.offer as o using (offer_id) where retracts_recorded_at is null "
                "order by hash(offer_id, valid_from, ?) limit 1",
                [at],
            )
            number = free_number(con, 1)
            con.execute(
                "insert into log.scope_fetch by name select source, scope, valid_from as observed_at, "
                "?::TIMESTAMP as recorded_at, ?::INTEGER as fetch_no, document_no from taken",
                [naive(day(at)), number],
            )
            con.execute(
                "insert into log.price_other by name select offer_no, unit_price, upfront_price, "
                "recorded_at as retracts_recorded_at, ?::INTEGER as fetch_no from taken",
                [number],
            )


CHAINED = {
    "core.sku_price": chains.SKU_PRICE,
    **{mart.qualified: mart.sql for mart in MARTS if mart.name in ("price_history", "price_move")},
}
"""Views of what the log's chains tell, with the SELECTs whose rows they must give."""


def unlike(file: Path) -> dict[str, list[object]]:
    """Return, by view, rows that it has and its whole SELECT has not, or the other way round."""
    with duckdb.connect(str(file), read_only=True) as con:
        found = {}
        for name, select in CHAINED.items():
            con.execute(f"create or replace temp table whole as {select}")
            found[name] = con.execute(
                f"(from {name} except all from whole) union all (from whole except all from {name}) limit 4"
            ).fetchall()
    return {name: rows for name, rows in found.items() if rows}


def compare(folder: Path, *, seed: int, days: int, since: int) -> int:
    """Publish a made-up history day by day, and each day also where no file stands; return how many were amended."""
    world, n_amended_files = World(seed), 0
    with db.writer(folder / "writer") as con:
        for at in range(days):
            told(con, *world.looks(at), learnt=at + 0.3)
            world.settle(con, at + 0.4)
            world.retract(con, at + 0.45)
            if world.dice.random() < 0.8:
                rate(con, at, world.dice.uniform(1.0, 1.2), learnt=at + 0.3)
            if at < since or world.dice.random() < 0.15:
                continue
            daily = put(con, folder / "daily", at + 0.5)
            if not n_amended(daily):
                continue
            n_amended_files += 1
            (folder / "once" / published_file.FILE_NAME).unlink(missing_ok=True)
            assert differences(daily, put(con, folder / "once", at + 0.5)) == {}, f"seed {seed}, day {at}"
    assert unlike(daily) == {}, f"seed {seed}"
    return n_amended_files


def test_a_file_that_is_amended_is_the_one_made_from_nothing(tmp_path: Path) -> None:
    """Of one market two days; the long form has twenty markets, and of each up to twelve days."""
    assert compare(tmp_path, seed=4, days=4, since=2) == 1


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(1, 22))
def test_long_histories_that_are_amended_are_those_made_from_nothing(tmp_path: Path, seed: int) -> None:
    assert compare(tmp_path, seed=seed, days=17, since=5) >= 8


ITEMS, _ = needed("price_index_item")


@pytest.mark.prove
def test_an_unmoved_price_that_nobody_saw_for_over_a_week_begins_anew(tmp_path: Path) -> None:
    """Nothing was published meanwhile, so that the last file holds the price until its own day."""
    with db.writer(tmp_path / "writer") as con:
        for at in (0, 1, 11):
            told(con, look(at, chip("H100", "2"), source="nebius"), learnt=at + 0.1)
            amended = put(con, tmp_path / "amended", at + 0.2, marts=ITEMS)
        assert n_amended(amended) == 2
        assert differences(amended, put(con, tmp_path / "new", 11.2, marts=ITEMS)) == {}


TOUCHED = ("moved", "late", "archived", "another")
"""Regions whose machine is moved beside three others, or told of late, by an archive, or by another source."""


def four(p5: str, g6: str) -> list[Row]:
    rows = row("p5.48xlarge", p5), row("g6.48xlarge", g6), row("p4d.24xlarge", "3"), row("g5.xlarge", "4")
    return [each | {"region_id": "moved"} for each in rows]


def one(region: str, price: str) -> Row:
    return row("p5.48xlarge", price, region_id=region)


@pytest.fixture(scope="module")
def three_days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Return a log of four days, and the file that was published after three; on the second prices had changed."""
    folder = tmp_path_factory.mktemp("three-days")
    with db.writer(folder / "writer") as con:
        for at, price in enumerate(("10", "11", "11")):
            looks = [look(at + 0.25, one(region, price), scope=region) for region in TOUCHED[1:]]
            looks += [look(at + 0.25, *four(price, price), scope="moved")]
            told(con, *looks, look(at + 0.25, row("trn1.2xlarge", "1"), scope="b"), learnt=at + 0.25)
        file = put(con, folder, 2.5, marts=ITEMS)
        told(
            con,
            look(1.5, one("late", "11"), scope="late", document="late"),
            look(3.1, one("archived", "11"), scope="archived", archived=True, complete=False),
            look(3.1, one("another", "11"), source="offline_archive", scope="old", complete=False, document="two"),
            look(3.25, *four("11", "12"), scope="moved"),
            learnt=3.3,
        )
        yield con, file


def copied(file: Path, folder: Path, *spoil: str) -> None:
    """Put a copy of the published file into a folder, spoilt by statements."""
    copy = Path(shutil.copy(file, folder))
    copy.chmod(0o644)
    with duckdb.connect(str(copy)) as con:
        for each in spoil:
            con.execute(each)


def spoiled(file: Path) -> list[str]:
    """Return the regions that have a row which only the file before had."""
    with duckdb.connect(str(file), read_only=True) as con:
        found = con.execute(
            "select distinct o.region_id from int.price_index_item as i inner join core.offer as o using (offer_id) "
            "where i.service_provider_name = 'spoiled' order by all"
        ).fetchall()
    return [name for (name,) in found]


def last_seen(file: Path) -> dict[str, str]:
    with duckdb.connect(str(file), read_only=True) as con:
        return dict(
            con.execute(
                "select o.region_id || ' ' || o.instance_type, h.last_observed_at::DATE::VARCHAR "
                "from int.price_history as h inner join core.offer as o using (offer_id) where h.valid_to is null"
            ).fetchall()
        )


SPOIL = "update int.index_spell set service_provider_name = 'spoiled' where not is_link_end"


def test_runs_of_days_whose_end_may_move_stand_last(three_days: tuple[duckdb.DuckDBPyConnection, Path]) -> None:
    """So an amendment writes the blocks of the last ones anew, and of years before none."""
    with duckdb.connect(str(three_days[1]), read_only=True) as con:
        ends = con.execute("select is_link_end from int.index_spell order by rowid").fetchall()
    assert set(ends) == {(False,), (True,)}
    assert ends == sorted(ends)


def test_touched_offers_alone_are_made_anew(three_days: tuple[duckdb.DuckDBPyConnection, Path], tmp_path: Path) -> None:
    """Of four offers that a look shows one moves: the others keep their rows, and have held for another day.

    A late look, one of an archive in the same scope, and another source's word make an offer anew that did not move.
    """
    con, before = three_days
    copied(before, tmp_path, SPOIL)
    assert spoiled(tmp_path / before.name) == sorted(TOUCHED)
    file = put(con, tmp_path, 3.5, marts=ITEMS)
    assert (n_amended(file), spoiled(file)) == (1, ["moved"])
    assert last_seen(file) == {
        "moved p5.48xlarge": "2026-01-04", "moved g6.48xlarge": "2026-01-04", "moved p4d.24xlarge": "2026-01-04",
        "moved g5.xlarge": "2026-01-04", "late p5.48xlarge": "2026-01-03", "archived p5.48xlarge": "2026-01-04",
        "another p5.48xlarge": "2026-01-04", "us-east-1 trn1.2xlarge": "2026-01-03",
    }  # fmt: skip


@pytest.mark.prove
def test_the_past_of_an_offer_that_moved_stays(tmp_path: Path) -> None:
    """Its items follow the last one that the file before has; where a move of the past is doubtful now all are made.

    A new move is of the day of its fetch: cheapest prices of days before that are not made again.
    """
    marts, _ = needed("price_index_item", "option_price_history")
    with db.writer(tmp_path / "writer") as con:
        told(con, *(look(at + 0.25, one("moved", cost)) for at, cost in enumerate(("10", "11", "11"))), learnt=2.3)
        before = put(con, tmp_path / "before", 2.5, marts=marts)
        copied(before, tmp_path, SPOIL, "update int.option_price_history set offer_id = 77")
        told(con, look(3.25, one("moved", "12")), learnt=3.3)
        file = put(con, tmp_path, 3.5, marts=marts)
        assert (n_amended(file), spoiled(file)) == (1, ["moved"])
        with duckdb.connect(str(file), read_only=True) as read:
            kept = "select distinct offer_id = 77, valid_from < '2026-01-03' from int.option_price_history order by all"
            assert read.execute(kept).fetchall() == [(False, False), (True, True)]
        told(con, look(4.25, one("moved", "11")), learnt=4.3)
        assert (n_amended(put(con, tmp_path, 4.5, marts=marts)), spoiled(file)) == (2, [])


def test_what_is_new_in_an_amended_file_is_checked(
    three_days: tuple[duckdb.DuckDBPyConnection, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Intervals that are made anew end as they begin: the file before stays."""
    con, before = three_days
    copied(before, tmp_path)
    stood = (tmp_path / before.name).read_bytes()
    select = f"select * replace (valid_from as valid_to) from ({chains.SKU_PRICE})"
    monkeypatch.setattr(chains, "SKU_PRICE", select)
    with pytest.raises(ChipledgerError, match="an interval ends before it begins"):
        put(con, tmp_path, 3.5, marts=ITEMS)
    assert (tmp_path / before.name).read_bytes() == stood


class MadeFromNothing(Exception):
    """The file was not amended."""


@pytest.mark.parametrize(
    "spoil",
    ["update core.source set precedence = 11 where source = 'nebius'", "delete from ref.instance_type "
     "where accelerator_kind = 'fpga'", "update meta.build set sql_sha256 = 'another'",
     "update meta.build set version = 'another'", "update meta.build set ranked_days = 91",
     "update meta.build set marketplace_days = 31", "drop table meta.build"],
)  # fmt: skip
def test_all_is_made_where_what_all_rests_on_differs(
    three_days: tuple[duckdb.DuckDBPyConnection, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    """Sources are believed otherwise, a chip is one of ours, or another version, SELECT or limit made the file."""
    con, before = three_days
    copied(before, tmp_path, spoil)

    def build(*_: object, **__: object) -> None:
        raise MadeFromNothing

    monkeypatch.setattr("warehouse.publish.building.build", build)
    with pytest.raises(MadeFromNothing):
        put(con, tmp_path, 3.5, marts=ITEMS)


@pytest.mark.prove
@pytest.mark.of_file("a lake does not survive too little memory, so that none is set")
def test_what_a_day_needs_more_memory_for_is_amended_all_the_same(
    three_days: tuple[duckdb.DuckDBPyConnection, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    con, before = three_days
    copied(before, tmp_path)
    monkeypatch.setattr("warehouse.publish.amending.MEMORY", 5 * 2**20)
    with caplog.at_level("INFO"):
        assert n_amended(put(con, tmp_path, 3.5, marts=ITEMS)) == 1
    assert "amended with more memory" in caplog.text
    assert con.execute("select current_setting('memory_limit')").fetchone() != ("5.0 MiB",)


@pytest.mark.of_file("of a lake no limit is set")
@pytest.mark.parametrize(
    ("mib", "more", "least", "most"),
    [
        pytest.param(0, 0, 0, 0, id="little", marks=pytest.mark.prove),
        pytest.param(1024, 0, 1, 1, id="as much as before", marks=pytest.mark.prove),
        pytest.param(1024, 16, 9, 100, id="more and more"),
    ],
)
def test_freed_memory_goes_back_where_the_process_has_much_and_more_than_before(
    three_days: tuple[duckdb.DuckDBPyConnection, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mib: int,
    more: int,
    least: int,
    most: int,
) -> None:
    con, before = three_days
    copied(before, tmp_path)
    limits: list[int] = []
    resident = itertools.count(mib * 2**20, more * 2**20)
    monkeypatch.setattr(db, "resident_memory", lambda: next(resident))
    monkeypatch.setattr(db, "set_memory_limit", lambda _, n_bytes: limits.append(n_bytes))
    assert n_amended(put(con, tmp_path, 3.5, marts=ITEMS)) == 1
    assert least <= len(limits) - 1 <= most  # one is the limit itself
    assert len({*limits}) == 1


@pytest.mark.prove
def test_a_document_of_benchmarks_added_again_in_other_words_makes_all_anew(tmp_path: Path) -> None:
    """A shipped run that one of the user's own hid is there again, and the file before has no word of it."""
    columns, (shipped, *_) = throughput.CORE.columns, throughput.catalogue_rows()
    found = []
    with db.writer(tmp_path / "writer") as con, published_with("throughput", least=()):
        told(con, look(0.25, row("p5.48xlarge", "10")), learnt=0.3)
        for at, document, measured in (
            (0, "own", shipped),
            (1, "more", run()),
            (2, "own", run(concurrency=Decimal(9))),
        ):
            moment = naive(day(at))
            said = {"source": "benchmark:us", "document_sha256": document, "observed_at": moment, "recorded_at": moment}
            throughput.append(con, [tuple((dict(zip(columns, measured, strict=True)) | said).values())])
            file = put(con, tmp_path / "daily", at + 0.5, marts=publisher.MARTS)
            if at == 1:
                assert differences(file, put(con, tmp_path / "once", at + 0.5, marts=publisher.MARTS)) == {}
            with duckdb.connect(str(file), read_only=True) as read:
                of_shipped = "select source from core.throughput where throughput_id = ?"
                found.append((n_amended(file), *read.execute(of_shipped, [shipped[0]]).fetchone()))
    assert found == [(0, "benchmark:us"), (1, "benchmark:us"), (0, "catalogue")]


def test_a_last_file_that_cannot_be_read_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / published_file.FILE_NAME).write_bytes(b"no database")
    with db.writer(tmp_path) as con:
        told(con, look(0.25, row("p5.48xlarge", "10")), learnt=0.25)
        assert n_amended(put(con, tmp_path, 0.5, marts=needed()[0])) == 0


@pytest.mark.prove
def test_only_days_that_may_differ_are_made_again(tmp_path: Path) -> None:
    """The day after the last file is added, and a price learnt late makes its days again; past days stand."""
    shown, (marts, _) = [], needed("price_index")
    with db.writer(tmp_path / "writer") as con:
        told(con, *(look(at + 0.25, row("p5.48xlarge", "10")) for at in range(5)), learnt=4.3)
        file = put(con, tmp_path, 4.5, marts=marts)
        for at, price, learnt in ((5.25, "10", 5.25), (2.5, "11", 6.25)):
            file.chmod(0o644)
            with duckdb.connect(str(file)) as before:
                before.execute("update int.price_level set n_items = 77; update int.price_index set n_gone = 77")
            told(con, look(at, row("p5.48xlarge", price)), learnt=learnt)
            put(con, tmp_path, learnt + 0.25, marts=marts)
            with duckdb.connect(str(file), read_only=True) as after:
                levels = after.execute("select n_items from int.price_level order by index_date").fetchall()
                index = after.execute(
                    "select n_gone from int.price_index where index_level = 'all' order by index_date"
                ).fetchall()
                shown.append(([n for (n,) in levels], [n for (n,) in index]))
    assert shown == [([77] * 5 + [1], [77] * 2 + [0] * 4), ([77] * 2 + [1] * 5, [77] * 2 + [0] * 5)]


@pytest.mark.prove
def test_levels_of_some_days_at_a_time_are_those_of_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each day alone: with prices that are held over a gap, that come, go and come back, and that are in euros."""
    marts, _ = needed("price_level")

    def seen(at: float, *names: str, euros: str) -> ParsedFetch:
        chips = [chip(name, euros, pricing_currency="EUR") for name in names]
        return look(at, *chips, source="nebius", scope="page", trusted=True)

    with db.writer(tmp_path / "writer") as con:
        for at, usd in ((-1, 1.1), (3, 1.2), (6, 1.15)):
            rate(con, at, usd, learnt=0)
        told(con, *(look(at + 0.25, row("p5.48xlarge", str(80 + at // 4))) for at in range(8)), learnt=8)
        for at in (0.25, 1.25, 3.25, 4.25):
            names = ("H100", "A100 SXM") if at in (0.25, 3.25) else ("H100",)
            told(con, seen(at, *names, euros=str(2 + at // 4)), learnt=8)
        made = []
        for item_days in (chains.ITEM_DAYS, 1):
            monkeypatch.setattr(chains, "ITEM_DAYS", item_days)
            made.append(put(con, tmp_path / str(item_days), 8.5, marts=marts))
    assert differences(*made) == {}
    with duckdb.connect(str(made[0]), read_only=True) as con:
        assert con.execute(
            "select count(distinct index_date), sum(n_carried) > 0, bool_or(currency_log <> 0), "
            "count(*) filter (where service_provider_name is null) from int.price_level"
        ).fetchall() == [(9, True, True, 8)]
