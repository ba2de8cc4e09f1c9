"""A run from the sources to the published file: what it does again, what it does alone, what it leaves alone."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from few_marts import published_with
from looks import day
from published import content, query
from standin import aws, ec2, ec2_cloud, faults
from standin.catalogue import Edition, Product
from standin.facts import CURRENT
from toy_source import Toy, installed

from extract import SOURCES
from flows.collect import importer, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings
from warehouse.landing.folder import Landing

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
NEXT = "20261122200000"
FOUR = {
    ("p4d.24xlarge", "us-east-1", Decimal("32.7726"), Decimal("21.957642")),
    ("p4de.24xlarge", "us-east-1", Decimal("40.96575"), Decimal("27.44705")),
    ("p5.48xlarge", "us-east-1", Decimal("98.32"), Decimal("55.04")),
    ("p5en.48xlarge", "us-east-1", Decimal("84.8"), Decimal("63.296")),
}
"""AWS's cut of 2025-06 as the public observations show it."""
REGIONS = ["us-east-1", "us-east-1-atl-1", "us-gov-west-1"]
"""A region, its Local Zone and one of GovCloud."""

LIST_CHANGES = (
    "select instance_type, region_id, unit_price_before, unit_price_after, observed_at::date::varchar, source "
    "from int.price_change where change_kind = 'list_change'"
)


@pytest.fixture
def toy(least_marts: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toy:
    """Return a source of our own, the only one, over an empty data directory; what is published is the least."""
    return installed(monkeypatch, tmp_path / "data")


# --- offline


def test_the_archive_is_current_as_of_its_own_day(offline_run: Path) -> None:
    """In its own file, for ninety days before its newest price, whatever the clock of the run says."""
    file = offline_run / "prices.duckdb"
    ((as_of,),) = query(file, "select built_at from meta.build")
    assert as_of < NOW.replace(tzinfo=None) - timedelta(days=30)
    wrong = "select count(*) from int.accelerator_hour_price where is_current <> (age_days <= 90)"
    assert query(file, wrong) == [(0,)]
    assert query(file, "select bool_or(is_current), bool_and(is_current) from int.accelerator_hour_price") == [
        (True, False)
    ]


# --- the network, or none


@pytest.fixture(scope="module")
def imported(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """Return a data directory with a file imported twice, to read or copy, and how many events each import added."""
    folder, file = tmp_path_factory.mktemp("imported"), shared / "data/aws_on_demand_observations.csv"
    with published_with("price_change", least=()):
        return folder, import_files(folder, file, file)


def price_list(standin: aws.StandIn, data_dir: Path, door: str = "bulk", **more: object) -> Settings:
    chosen = {"access": door, "bulk_url": standin.url, "regions": "all"} | more
    return Settings(data_dir=data_dir, workers=2, sources=alone(aws_price_list=chosen))


def collected(settings: Settings, at: datetime) -> Summary:
    """Collect and load, and publish nothing."""
    with steps.open_run(settings, clock=lambda: at) as run:
        run.collect()
        run.load()
        return run.summary


def alone(**settings: dict[str, object]) -> dict[str, dict[str, object]]:
    """Return settings under which the named sources are the only ones enabled."""
    return {source.name: {"enabled": False} for source in SOURCES if source.kind == "live"} | settings


@pytest.mark.usefixtures("quick", "least_marts")
def test_without_network_the_last_file_stands(imported: tuple[Path, list[int]], tmp_path: Path) -> None:
    """Every source that cannot be reached is named; nothing is published, and nothing passes for fresh."""
    shutil.copytree(imported[0], tmp_path, dirs_exist_ok=True)
    before = (tmp_path / "prices.duckdb").stat()
    cut_off = alone(aws_price_list={"access": "bulk", "bulk_url": "http://127.0.0.1:9"})

    summary = steps.run(Settings(data_dir=tmp_path, sources=cut_off), clock=lambda: NOW + timedelta(days=1))

    assert (summary.fresh, summary.file, summary.report, summary.n_events) == (False, None, None, 0)
    assert [(result.source, result.scope) for result in summary.failed] == [("aws_price_list", "all")]
    assert "127.0.0.1:9" in str(summary.failed[0].error)
    after = (tmp_path / "prices.duckdb").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.usefixtures("quick")
@published_with("source_health", least=())
def test_one_region_fails_alone(standin: aws.StandIn, tmp_path: Path) -> None:
    """The failed region is named with its error and says nothing; the others are loaded, complete and current."""
    standin.fault("bulk:us-west-2", faults.Status(503))

    summary = steps.run(price_list(standin, tmp_path), clock=lambda: NOW)

    assert {result.scope: result.status for result in summary.results} == {
        "eu-west-1": "ok", "us-east-1": "ok", "us-east-1-atl-1": "ok", "us-gov-west-1": "ok", "us-west-2": "failed",
    }  # fmt: skip
    health = query(
        tmp_path / "prices.duckdb",
        "select scope, status, is_current, n_rows > 0, error like '%503%' from int.source_health order by scope",
    )
    assert ("us-west-2", "failed", False, None, True) in health
    assert ("us-east-1", "ok", True, True, None) in health

    standin.heal()
    again = collected(price_list(standin, tmp_path), NOW + timedelta(days=1))

    assert again.failed == []


@pytest.mark.usefixtures("log_alone")
@pytest.mark.parametrize(
    ("regions", "read"),
    [(["Europe"], ["eu-west-1"]), (["IE", "us-west-2"], ["eu-west-1", "us-west-2"]), ([], ["us-east-1", "us-west-2"])],
)
def test_a_country_or_a_continent_of_decisions_is_read(
    standin: aws.StandIn, tmp_path: Path, regions: list[str], read: list[str]
) -> None:
    """Not the regions that are read where nobody decides for any."""
    sources = alone(aws_price_list={"access": "api"})
    with steps.open_run(Settings(data_dir=tmp_path, sources=sources, decision={"regions": regions})) as run:
        assert [scope for _, scope in run.plan(run.collector.sources())] == read


@pytest.mark.usefixtures("quick", "least_marts", "log_alone")
def test_a_landed_version_is_not_fetched_again(
    standin: aws.StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the next day only the indexes are asked for; the prices are confirmed all the same.

    The first run says what it reads, before the first byte; the second, which reads nothing, says nothing.
    """
    standin.stated_bytes = 378_000_000
    settings = price_list(standin, tmp_path, regions=["us-east-1", "us-west-2"])
    steps.run(settings, clock=lambda: NOW)
    fetched = standin.count("bulk:prices")
    assert (
        "AWS's public files: 2 to read, 756 MB, about 1 min at 100 Mbit/s, for us-east-1, us-west-2. `--regions`"
        in capsys.readouterr().err
    )
    summary = steps.run(settings, clock=lambda: NOW + timedelta(days=1))

    assert "public files" not in capsys.readouterr().err
    assert (fetched, standin.count("bulk:prices")) == (2, 2)
    assert (summary.n_events, summary.fresh) == (0, True)
    confirmed = "select distinct last_observed_at from core.price_known_at(TIMESTAMP '9999-01-01')"
    assert query(tmp_path / "build.duckdb", confirmed) == [
        (datetime(2026, 11, 22, 9, 0),)  # noqa: DTZ001
    ]


@pytest.mark.prove
@pytest.mark.usefixtures("quick")
@published_with("accelerator_hour_price", least=())
def test_both_doors_give_the_same_log(standin: aws.StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """API or bulk files: the same offers, events, intervals and prices per chip, to the last digit and code.

    Through the API nothing large is read, so that nothing is said of it.
    """
    standin.stated_bytes = 378_000_000
    for door in ("api", "bulk"):
        steps.run(price_list(standin, tmp_path / door, door, regions=REGIONS), clock=lambda: NOW)
        assert ("public files" in capsys.readouterr().err) == (door == "bulk")
    api, bulk = (
        content(
            tmp_path / door / "prices.duckdb",
            without=("document_sha256", "x_DocumentSha256", "price_document_sha256", "evidence_documents"),
        )
        for door in ("api", "bulk")
    )

    assert len(api["core.offer"]) > 30 and len(api["int.accelerator_hour_price"]) > 20
    for table in set(api) - {"core.document", "core.fetch_cover", "int.document_evidence"}:
        assert api[table] == bulk[table], table


def cheaper(edition: Edition) -> Edition:
    """Return the next edition: P5 in Virginia at 50, and G6 in Oregon no longer listed."""

    def change(product: Product) -> Product | None:
        if not faults.is_linux_on_demand(product):
            return product
        if (product.instance_type, product.region) == ("g6.xlarge", "us-west-2"):
            return None
        if (product.instance_type, product.region) == ("p5.48xlarge", "us-east-1"):
            return product.with_amount("50.0000000000")
        return product

    return edition.changed(NEXT, change)


@pytest.mark.usefixtures("quick")
@published_with("price_change", least=())
def test_a_new_version_gives_exactly_what_changed(standin: aws.StandIn, tmp_path: Path) -> None:
    """One price changed and one type left the list: two events and two changes; failing, a region ends nothing."""
    settings = price_list(standin, tmp_path, regions=["us-east-1", "us-west-2"])
    collected(settings, NOW)
    standin.publish(cheaper(standin.catalogues["aws"].current))
    standin.fault("bulk:us-west-2", faults.Status(503))
    second = collected(settings, NOW + timedelta(days=1))

    assert (second.n_events, len(second.failed)) == (1, 1)

    standin.heal()
    third = steps.run(settings, clock=lambda: NOW + timedelta(days=2))

    assert third.n_events == 1
    changes = query(
        tmp_path / "prices.duckdb",
        "select instance_type, region_id, unit_price_before::varchar, unit_price_after::varchar, change_kind, "
        "last_observed_before_at::varchar, observed_at::varchar from int.price_change order by observed_at",
    )
    assert changes == [
        ("p5.48xlarge", "us-east-1", "55.0400000000", "50.0000000000", "list_change",
         "2026-11-21 09:00:00", "2026-11-22 09:00:00"),
        ("g6.xlarge", "us-west-2", "0.8048000000", None, "gone_offer", "2026-11-21 09:00:00", "2026-11-23 09:00:00"),
    ]  # fmt: skip
    assert CURRENT != NEXT


def test_a_price_that_no_rule_covers_ends_no_offer(standin: aws.StandIn, tmp_path: Path) -> None:
    """AWS lists p5.48xlarge under a market option that is new: it waits in quarantine, and the offer is not gone."""
    settings = price_list(standin, tmp_path, "api", regions=["us-west-2"])
    collected(settings, NOW)

    def flexible(product: Product) -> tuple[Product, ...]:
        return (replace(product, attributes={**product.attributes, "marketoption": "Flex"}),)

    standin.fault("api:GetProducts", faults.OtherFacts(instance_type="p5.48xlarge", instead=flexible))
    second = collected(settings, NOW + timedelta(days=1))

    assert [(result.status, result.n_refused, result.n_events) for result in second.results] == [("ok", 1, 0)]
    assert query(tmp_path / "build.duckdb", "select row_json ->> 'instance_type', value from core.quarantine") == [
        ("p5.48xlarge", "55.0400000000 with MarketOption 'Flex'")
    ]


# --- imports


def import_files(data_dir: Path, *files: Path, at: datetime = NOW) -> list[int]:
    """Import files one after the other, and publish; return how many events each added."""
    added = []
    for number, file in enumerate(files, start=1):
        clock = (lambda moment: lambda: moment)(at + timedelta(hours=number))
        with steps.open_run(Settings(data_dir=data_dir), clock=clock) as run:
            importer.land(run, importer.landed(file, run.clock()))
            run.load()
            added.append(run.summary.n_events)
            if number == len(files):
                run.publisher.publish()
    return added


def test_an_import_twice_is_an_import_once(imported: tuple[Path, list[int]]) -> None:
    """The same CSV adds its events once; the four list changes of 2025-06-23 stand in it, and no other."""
    file = imported[0] / "prices.duckdb"

    assert imported[1] == [127, 0]
    changes = query(file, LIST_CHANGES)
    assert {line[:4] for line in changes} == FOUR
    assert {line[4:] for line in changes} == {("2025-06-23", "import:aws/karpenter-provider-aws")}
    assert len(changes) == 4
    assert query(file, "select count(*) = count(distinct (offer_id, observed_at)) from core.sighting") == [(True,)]


@pytest.mark.prove
@published_with("price_change", least=())
def test_an_import_beside_the_archive_changes_no_change(
    imported: tuple[Path, list[int]], shared: Path, tmp_path: Path
) -> None:
    """Two sources of the same facts, in either order: still four list changes, dated by the earliest source."""
    file = shared / "data/aws_on_demand_observations.csv"
    before, after = tmp_path / "import-first", tmp_path / "archive-first"
    shutil.copytree(imported[0], before, ignore=shutil.ignore_patterns("prices.duckdb"))

    def learn(folder: Path, *, is_import: bool, publish: bool = False) -> None:
        clock = NOW + timedelta(hours=9) if publish else NOW
        with steps.open_run(Settings(data_dir=folder), clock=lambda: clock) as run:
            if is_import:
                importer.land(run, importer.landed(file, run.clock()))
            else:
                run.collect(("offline_archive",), ("us-east-1", "us-gov-east-1"), offline=True)  # as the import
            run.load()
            if publish:
                run.publisher.publish()

    learn(before, is_import=False, publish=True)
    learn(after, is_import=False)
    learn(after, is_import=True, publish=True)

    for folder in (before, after):
        changes = query(folder / "prices.duckdb", LIST_CHANGES)
        assert {line[:4] for line in changes} == FOUR
        assert {line[4] for line in changes} == {"2025-06-23"}
        assert len(changes) == 4
    for table in ("core.offer", "core.price_event", "core.sku_price", "int.price_history", "int.price_change"):
        rows = f"select columns(lambda c: c not in ('recorded_at', 'run_id', 'offer_no')) from {table} order by all"
        assert query(before / "prices.duckdb", rows) == query(after / "prices.duckdb", rows) != [], table


# --- what is told


@pytest.mark.usefixtures("log_alone")
def test_a_price_that_waits_is_told_the_day_it_is_held(toy: Toy) -> None:
    """By the run that held it, with the reason."""
    toy.learn(0, a={"p5.48xlarge": "40", "g6.xlarge": "0.8"})
    told = list(toy.run(1, a={"p5.48xlarge": "10"} | {"g6.xlarge": "0.8"}).lines())

    assert "1 row refused: `chipledger quarantine list` says why" in told
    assert "held: toy, 1 price: 0.25 times the last price, 40; waits for a person" in told


# --- rebuilding


@pytest.mark.prove
def test_the_landing_folder_is_enough(toy: Toy) -> None:
    """Deleted and loaded again from landing alone, core and mart are the same, decisions and refusals included."""
    others = {"p4d.24xlarge": "21.96", "p3.2xlarge": "3.06", "g6.xlarge": "0.8048", "g5.xlarge": "1.006"}
    toy.learn(0, a={"p5.48xlarge": "10", "p6.x": "1", **others}, b={"p2.xlarge": "0.9"})
    toy.learn(1, a={"p5.48xlarge": "30", "p6.x": "3", **others}, b=None)
    log = toy.data_dir / "build.duckdb"
    held = dict(
        query(
            log,
            "select row_json->>'instance_type', quarantine_id from core.quarantine where gate = 'history'",
        )
    )
    toy.at = 1.2
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.decide(held["p5.48xlarge"], "accept")
        run.decide(held["p6.x"], "refuse")
    toy.learn(2, a={"p5.48xlarge": "30.00000000001", "p6.x": "1", **others}, b={})
    cut = query(log, "select quarantine_id from core.quarantine where gate = 'batch'")
    toy.decide(2.2, int(str(cut[0][0])), "refuse", publish=False)
    toy.learn(4, a={"p5.48xlarge": "29", "p6.x": "1", "g6.xlarge": "0.8048"}, b={"p2.xlarge": "0.8"})
    short = query(
        log,
        "select quarantine_id from core.quarantine where gate = 'batch' and observed_at = '2026-01-05'",
    )
    toy.decide(4.2, int(str(short[0][0])), "accept")
    first = content(toy.data_dir / "prices.duckdb")
    toy.rebuild(4.2)

    assert content(toy.data_dir / "prices.duckdb") == first
    assert query(
        toy.data_dir / "prices.duckdb",
        "select day(valid_from)::int, day(valid_to)::int, s.unit_price::int from core.sku_price as s "
        "join core.offer using (offer_id) where instance_type = 'p5.48xlarge' order by all",
    ) == [(1, 2, 10), (2, 5, 30), (5, None, 29)]
    assert query(
        toy.data_dir / "prices.duckdb",
        "select count(*) from core.sku_price join core.offer using (offer_id) "
        "where instance_type = 'g5.xlarge' and valid_to = '2026-01-05'",
    ) == [(1,)]


@pytest.mark.usefixtures("log_alone")
def test_a_decision_cut_off_in_the_middle_is_carried_out(toy: Toy) -> None:
    """Killed before it was loaded, and after it was and the journal's position was not: the next run goes on."""
    others = {"p4d.24xlarge": "21.96", "p3.2xlarge": "3.06"}
    toy.learn(0, a={"p5.48xlarge": "10", **others}, b={"p5e.48xlarge": "10", "g5.xlarge": "1", "g6.xlarge": "0.8"})
    toy.learn(1, a={"p5.48xlarge": "30", **others}, b={"g6.xlarge": "0.8"})
    log = toy.data_dir / "build.duckdb"
    ids = dict(query(log, "select gate, quarantine_id from core.quarantine"))

    def decide(at: float, gate: str) -> None:
        Landing(toy.data_dir / "landing").record(
            "decision", day(at), quarantine_id=int(str(ids[gate])), decision="accept", decided_by="a person"
        )

    decide(1.5, "history")
    with steps.open_run(toy.settings(), clock=toy.clock) as run:
        run.con.execute(
            "delete from core.journal_position where position = (select max(position) from core.journal_position)"
        )
    decide(1.6, "batch")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("warehouse.log.load.load", lambda *given, **named: (_ for _ in ()).throw(KeyboardInterrupt))
        with steps.open_run(toy.settings(), clock=toy.clock):
            pass
    summary = toy.run(2)

    assert summary.failed == []
    assert query(
        toy.data_dir / "prices.duckdb",
        "select instance_type, day(valid_from)::int, day(valid_to)::int, s.unit_price::int from core.sku_price as s "
        "join core.offer using (offer_id) where instance_type like 'p5%' order by all",
    ) == [("p5.48xlarge", 1, 2, 10), ("p5.48xlarge", 2, None, 30), ("p5e.48xlarge", 1, 2, 10)]


@pytest.mark.usefixtures("log_alone")
def test_a_decision_on_what_is_no_longer_refused_is_a_note(toy: Toy) -> None:
    """A parser mended since may leave nothing to decide on: the rebuild goes on and says so."""
    toy.learn(0, a={"p5.48xlarge": "10"})
    Landing(toy.data_dir / "landing").record(
        "decision", day(0.5), quarantine_id=7, decision="refuse", decided_by="a person"
    )
    summary = toy.run(1)

    assert summary.fresh
    assert [note for note in summary.notes if "7" in note and "no such row" in note]


@pytest.mark.prove
@pytest.mark.usefixtures("log_alone")
def test_a_damaged_document_fails_its_look_alone(toy: Toy, tmp_path: Path) -> None:
    """In a rebuild a body that was lost fails its own look, by name; the others are loaded."""
    toy.learn(0, a={"p5.48xlarge": "10"}, b={"p4d.24xlarge": "20"})
    ((sha256,),) = query(toy.data_dir / "build.duckdb", "select document_sha256 from core.document where scope = 'a'")
    (toy.data_dir / "landing" / str(sha256)[:2] / f"{sha256}.gz").write_bytes(b"")
    csv = tmp_path / "own.csv"
    csv.write_text(
        "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type\n"
        "2025-01-01,aws,us-east-1,on_demand,9,p5.48xlarge\n"
    )
    import_files(toy.data_dir, csv, at=day(0.5))
    ((lost,),) = query(
        toy.data_dir / "build.duckdb", "select document_sha256 from core.document where scope = 'own.csv'"
    )
    (toy.data_dir / "landing" / str(lost)[:2] / f"{lost}.gz").unlink()
    toy.rebuild(1)

    health = query(toy.data_dir / "build.duckdb", "select scope, status from core.scope_run order by scope")
    assert health == [("a", "failed"), ("b", "ok"), ("own.csv", "failed")]


# --- counting


@pytest.mark.usefixtures("log_alone")
def test_events_are_counted_once(toy: Toy) -> None:
    """The summary's events are those that the log gained, over several looks at one scope."""
    toy.learn(0, a={"p5.48xlarge": "10", "p4d.24xlarge": "20"})
    toy.at, toy.world["a"] = 1, {"p5.48xlarge": "11", "p4d.24xlarge": "21"}
    with steps.open_run(toy.settings(), clock=toy.clock) as killed:
        killed.collect()
    summary = toy.run(2, a={"p5.48xlarge": "12", "p4d.24xlarge": "21"})

    assert summary.n_events == 3


@pytest.mark.usefixtures("log_alone")
def test_what_fails_or_is_refused_is_not_fresh(toy: Toy) -> None:
    """Nothing but failures publishes nothing, whatever was published before; an empty answer is kept and refused."""
    toy.run(0, a={"p5.48xlarge": "10"})
    failed, refused = toy.run(1, a=None), toy.run(2, a={})

    assert (failed.fresh, failed.file, [each.status for each in failed.results]) == (False, None, ["failed"])
    assert (refused.fresh, refused.file, refused.results[0].error) == (False, None, "no price in the whole answer")


@pytest.mark.usefixtures("quick", "least_marts")
def test_regions_that_fail_alike_are_one_line(standin: aws.StandIn, tmp_path: Path) -> None:
    """A right that is missing is told once for all regions, without the region in AWS's words."""
    standin.fault("ec2:DescribeSpotPriceHistory", ec2.UNAUTHORIZED)

    summary = steps.run(Settings(data_dir=tmp_path, sources=alone(aws_spot={})), clock=lambda: NOW)

    (line,) = (line for line in summary.lines() if line.startswith("no fresh prices"))
    assert line.startswith("no fresh prices: aws_spot us-east-1, us-east-2: An error occurred (UnauthorizedOperation)")
    assert "operation (field" in line


@pytest.mark.usefixtures("quick")
def test_types_that_were_not_queried_have_their_history_later(standin: aws.StandIn, tmp_path: Path) -> None:
    """Who asked for some types alone for a while gets the changes of all since the last complete fetch."""
    begins = []
    for hours, types in enumerate(("all", ["trn1.*"], "all", "all")):
        standin.forget()
        chosen = alone(aws_spot={"regions": ["us-east-2"], "instance_types": types})
        moment = ec2_cloud.NOW + timedelta(hours=hours)
        collected(Settings(data_dir=tmp_path, sources=chosen), moment)
        begins.append(standin.seen("ec2:DescribeSpotPriceHistory:us-east-2")[-1].parameters["StartTime"][:13])

    first = f"{ec2_cloud.NOW - timedelta(days=90):%Y-%m-%dT%H}"
    assert begins == [first, "2026-10-03T02", "2026-10-03T02", "2026-10-03T04"]


@pytest.mark.usefixtures("quick", "least_marts", "log_alone")
def test_first_prices_are_there_before_the_large_files(
    standin: aws.StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What comes without them is published first; on later days all is published once."""
    standin.stated_bytes = 378_000_000
    bulk = {"access": "bulk", "bulk_url": standin.url, "regions": ["us-east-1"]}
    chosen = Settings(data_dir=tmp_path, sources=alone(aws_price_list=bulk, aws_spot={"regions": ["us-east-1"]}))
    seen: list[bool] = []
    standin.fault("bulk:prices", faults.Edit(lambda body: seen.append((tmp_path / "prices.duckdb").exists()) or body))

    steps.run(chosen, clock=lambda: NOW)

    assert seen == [True]
    assert f"first prices: {tmp_path / 'prices.duckdb'}" in capsys.readouterr().err
