"""The archive of the package has its own directory and clock; live prices never mix with it."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from looks import frame, row
from published import query
from weekly_file import read_once, weeks

from extract import SOURCES, price_archive, source_named
from extract.base import Context, Parsed, Source
from extract.offline_archive import ArchiveWeb
from flows.cli.main import main
from flows.collect import collector, importer, ingest, offline, publisher, steps
from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.shared import folders
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import ChipledgerError, SourceError

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
LIVE = "live"
DAY = "select strftime(built_at, '%Y-%m-%d %H:%M') from meta.build"
FEW = ("us-gov-east-1", "verda_2026-08", "verda_2026-10")
NEWEST = "aws_spot_2026-10"
"""The file of the archive that has its newest day."""


@pytest.fixture(autouse=True)
def once() -> Iterator[None]:
    """Let each test say anew where its answers come from."""
    folders._note_archive.cache_clear()
    yield


def call(*words: str | Path, data_dir: Path) -> Result:
    return CliRunner().invoke(main, ["--data-dir", str(data_dir), *(str(word) for word in words)])


def asked(folder: Path, sql: str) -> list[tuple[object, ...]]:
    return query(folder / "prices.duckdb", sql)


def live_source() -> Source:
    """Return a live source of one scope, which says that p5.48xlarge in us-gov-east-1 costs 70."""

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        document = Document(source=LIVE, scope=scope, url="x", body=b"70", fetched_at=ctx.now())
        return ScopeFetch(source=LIVE, scope=scope, observed_at=ctx.now(), complete=True, documents=(document,))

    def parse(document: Document) -> Parsed:
        return Parsed(rows=frame([row("p5.48xlarge", "70", region_id="us-gov-east-1")]).drop("document_sha256"))

    return Source(
        name=LIVE, provider="AWS", title="A live list", url="x", terms_url="x", max_age=timedelta(days=3),
        scopes=lambda ctx: ("all",), fetch=fetch, parse=parse,
    )  # fmt: skip


@pytest.fixture
def with_live(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have one live source next to the archive, the mart that is queried here, and no pages."""
    add_live(monkeypatch)
    with published_with("accelerator_hour_price", least=()):
        yield


def add_live(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [live_source(), *(source for source in SOURCES if source.name in offline.ARCHIVES)]
    by_name = {source.name: source for source in chosen}.__getitem__
    for module in (collector, publisher):
        monkeypatch.setattr(module, "SOURCES", tuple(chosen))
    monkeypatch.setattr(collector, "source_named", by_name)
    monkeypatch.setattr(ingest, "source_named", by_name)


def run(folder: Path, *, is_offline: bool, clock: datetime | None = NOW, scopes: tuple[str, ...] = FEW) -> Summary:
    of_run = Settings(data_dir=folder, workers=2)
    chosen = of_run.offline() if is_offline else of_run
    return steps.run(
        chosen, offline=is_offline, scopes=scopes if is_offline else (), clock=(lambda: clock) if clock else None,
        source_names=("price_archive",) if is_offline else (),
    )  # fmt: skip


def learn(folder: Path, at: datetime, *, is_offline: bool = True, **chosen: tuple[str, ...]) -> None:
    """Collect and load as at a day, and publish nothing."""
    with steps.open_run(Settings(data_dir=folder), clock=lambda: at) as one:
        one.collect(offline=is_offline, **chosen)
        one.load()


@pytest.fixture(scope="module")
def few_archived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory in whose folder `offline` a few files of the archive were read and published; copy it."""
    folder = tmp_path_factory.mktemp("few") / "data"
    with published_with("accelerator_hour_price", least=()), pytest.MonkeyPatch.context() as patch:
        add_live(patch)
        run(folder, is_offline=True, clock=None)
    return folder


@pytest.fixture
def few(few_archived: Path, with_live: None, tmp_path: Path) -> Path:
    """Return a copy of it."""
    return Path(shutil.copytree(few_archived, tmp_path / "few"))


# --- its own directory and clock


def test_a_run_keeps_to_its_own_directory_and_day(least_marts: None, tmp_path: Path) -> None:
    """Everything lies in offline/, and was built, learnt and named on the archive's newest day."""
    words = ("run", "--offline", "--json", "--source=price_archive", f"--scope={FEW[-1]}", f"--scope={NEWEST}")
    done = call(*words, data_dir=tmp_path)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    as_of = price_archive.newest()
    assert [path.name for path in tmp_path.iterdir()] == ["offline"]
    assert told["file"] == str(tmp_path / "offline/prices.duckdb")
    assert told["report"] == str(tmp_path / "offline/reports/index.html")
    assert told["run_id"].startswith(f"{as_of:%Y%m%dT%H%M%S}")
    naive = as_of.replace(tzinfo=None)
    assert asked(tmp_path / "offline", "select built_at from meta.build") == [(naive,)]
    assert asked(tmp_path / "offline", "select distinct recorded_at from core.price_event") == [(naive,)]
    before = asked(tmp_path / "offline", "from core.price_event order by all")

    again = json.loads(call(*words, data_dir=tmp_path).stdout)
    assert {look["status"] for look in again["looks"]} == {"known"}
    assert again["events"] == 0
    assert asked(tmp_path / "offline", "from core.price_event order by all") == before
    assert asked(tmp_path / "offline", "select built_at from meta.build") == [(naive,)]

    (tmp_path / "offline/prices.duckdb").unlink()
    assert call("build", data_dir=tmp_path / "offline").exit_code == 0
    assert asked(tmp_path / "offline", "select built_at from meta.build") == [(naive,)]
    ((ours, theirs),) = asked(
        tmp_path / "offline",
        "select min(max_age_hours) filter (source like '%_archive'), "
        "count(*) filter (kind = 'archive' and source not like '%_archive' and max_age_hours is not null) "
        "from core.source",
    )
    assert (ours, theirs) == (90 * 24, 0)


def test_offline_stays_where_it_is(tmp_path: Path) -> None:
    """Settings that name the directory itself lead to no second one in it, to no shared warehouse and no heartbeat."""
    chosen = {"warehouse": {"url": "ducklake:sqlite:/x"}, "heartbeat_url": "https://beat.example.com/x"}
    there = Settings(data_dir=tmp_path / "offline", **chosen)
    assert there.offline() == Settings(data_dir=tmp_path / "offline")
    assert Settings(data_dir=tmp_path).offline().data_dir == tmp_path / "offline"


@pytest.fixture(scope="module")
def archived(offline_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory in which the archive alone was read."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(offline_run, folder / "offline")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("query", "select count(*) from mart.price_now"),
        ("audit",),
        ("quarantine", "list"),
        ("chips", "H100"),
        ("export", "out", "--mart", "price_now"),
    ],
)
def test_readers_find_the_archive(archived: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """What reads answers from it where nothing else was published, and says so in one line on stderr."""
    words = tuple(str(tmp_path / word) if word == "out" else word for word in words)
    done = call(*words, data_dir=archived)
    assert done.exit_code == 0, done.output
    day = price_archive.newest().date()
    line = f"prices of the archive in the package, as of {day}; `chipledger run` fetches today's"
    assert done.stderr.splitlines().count(line) == 1
    assert line not in done.stdout


def test_the_page_of_the_week_lies_beside_the_file(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Reports and mail are written where the file is that they are made of, here one that is smaller."""
    (tmp_path / "offline").mkdir()
    shutil.copy(weeks(tmp_path_factory), tmp_path / "offline")
    with read_once(tmp_path_factory):
        done = call("report", "weekly", data_dir=tmp_path)
        sent = call("mail", "--dry-run", data_dir=tmp_path)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(str(tmp_path / "offline/reports/weeks"))
    assert sent.exit_code == 0, sent.output
    assert sent.stdout.startswith(str(tmp_path / "offline/mail"))
    assert [path.name for path in tmp_path.iterdir()] == ["offline"]


def test_a_file_of_ones_own_comes_first(archived: Path, tmp_path: Path) -> None:
    """Where there is one, nobody is told of the archive."""
    shutil.copytree(archived / "offline", tmp_path / "offline")
    shutil.copy(archived / "offline/prices.duckdb", tmp_path / "prices.duckdb")
    done = call("query", "select 1", data_dir=tmp_path)
    assert done.stderr == ""
    assert Settings(data_dir=tmp_path).published() == tmp_path / "prices.duckdb"


# --- one price more


@pytest.mark.prove
def test_one_newer_row_moves_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: Path) -> None:
    """A row in the archive's own form: the file lands anew, its one price changes, and its day is the new as-of."""
    place = tmp_path / "archive"
    shutil.copytree(Path(str(price_archive.ARCHIVE)), place)
    file = place / "prices/verda_2026-10.csv"
    header, *lines = file.read_text().splitlines()
    (old,) = (line for line in lines if "B200 " in line and ",on_demand," in line)
    new = old.replace("2026-10-08T00:00:00Z", "2026-10-16T12:00:00Z").replace("7.34", "7.5")
    assert new != old
    file.write_text("\n".join([header, *lines, new]) + "\n")
    monkeypatch.setattr(price_archive, "ARCHIVE", place)
    shown = (
        "select accelerator_label, unit_price, last_observed_at from int.accelerator_hour_price "
        "where service_provider_name = 'Verda' and purchase_option = 'on_demand' order by all"
    )
    before = asked(few / "offline", shown)
    done = run(few, is_offline=True, clock=None)
    assert done.n_events == 1
    changed = set(asked(few / "offline", shown)) ^ set(before)
    assert {(label, str(price)) for label, price, _ in changed} == {
        ("B200 SXM6 180GB", "7.3400000000"), ("B200 SXM6 180GB", "7.5000000000"),
    }  # fmt: skip
    assert asked(few / "offline", DAY) == [("2026-10-16 12:00",)]


# --- imports, live prices, and the version before


@pytest.mark.prove
@pytest.mark.usefixtures("log_alone")
def test_an_import_moves_the_day_where_it_is_newer(tmp_path: Path, few: Path) -> None:
    """To its newest observation: an older one, or one in the future, leaves the archive's day."""
    folder = few / "offline"
    as_of = asked(folder, DAY)
    for at, expected in (("2026-10-01", as_of), ("2026-11-02T10:00:00Z", [("2026-11-02 10:00",)])):
        file = tmp_path / "seen.csv"
        pl.DataFrame(
            {
                "observed_at_utc": [at], "provider": ["verda"], "region": [""], "pricing": ["on_demand"],
                "usd_per_hour": ["7.1"], "gpu": ["B200 SXM"], "gpu_count": ["1"],
            }
        ).write_csv(file)  # fmt: skip
        with steps.open_run(Settings(data_dir=folder), clock=lambda: NOW) as one:
            importer.land(one, importer.landed(file, one.clock()))
            one.finish(report=False)
        assert asked(folder, DAY) == expected
    # What the archive brings after that was learnt after it.
    again = run(few, is_offline=True, clock=None)
    assert again.started_at > NOW
    assert asked(folder, DAY) == [("2026-11-02 10:00",)]


def test_live_prices_are_refused_in_it(tmp_path: Path, few: Path) -> None:
    """A run, a collection and a backfill: nothing is fetched, and the file stands."""
    before = (few / "offline/prices.duckdb").read_bytes()
    with pytest.raises(ChipledgerError, match="holds the archive of the package, and live prices never mix with it"):
        run(few / "offline", is_offline=False)
    with (
        steps.open_run(Settings(data_dir=few / "offline"), clock=lambda: NOW) as one,
        pytest.raises(ChipledgerError, match="never mix"),
    ):
        importer.backfill(one, live_source(), ["all"], since=None, until=None)
    assert (few / "offline/prices.duckdb").read_bytes() == before


@pytest.mark.usefixtures("log_alone")
def test_the_archive_is_refused_beside_live_prices(tmp_path: Path, with_live: None) -> None:
    """It has its own directory, so only a path that leads there by hand meets this."""
    run(tmp_path, is_offline=False)
    with pytest.raises(ChipledgerError, match="holds live prices, and the archive of the package never mixes"):
        steps.run(Settings(data_dir=tmp_path), offline=True, source_names=("price_archive",), clock=lambda: NOW)
    run(tmp_path, is_offline=True, clock=None, scopes=FEW[-1:])
    assert asked(tmp_path, "select distinct source from core.price_event") == [(LIVE,)]


def test_live_prices_follow_archives_of_the_version_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_live: None
) -> None:
    """They are fetched beside its older archive, and where it mixed them with the other; only they are current."""
    with monkeypatch.context() as before:
        before.setattr(offline, "refuse_mixing", lambda con, sources, folder: None)
        learn(tmp_path, NOW - timedelta(days=3), source_names=("offline_archive",), scopes=("us-gov-east-1",))
    assert query(tmp_path / "build.duckdb", "select distinct source from core.scope_run") == [("offline_archive",)]
    learn(tmp_path, NOW - timedelta(days=2), is_offline=False)
    with monkeypatch.context() as before:
        before.setattr(offline, "refuse_mixing", lambda con, sources, folder: None)
        learn(tmp_path, NOW - timedelta(days=1), source_names=("price_archive",), scopes=FEW[-1:])
    done = run(tmp_path, is_offline=False)
    assert done.fresh
    assert asked(tmp_path, "select built_at from meta.build") == [(NOW.replace(tzinfo=None),)]
    found = asked(
        tmp_path,
        "select source, bool_or(is_current), bool_and(is_current), count(*) > 0 "
        "from int.accelerator_hour_price group by all order by all",
    )
    assert found == [
        (LIVE, True, True, True), ("offline_archive", False, False, True), ("price_archive", False, False, True),
    ]  # fmt: skip
    assert asked(tmp_path, "select max(max_age_hours) from core.source where kind = 'archive'") == [(None,)]


@pytest.mark.parametrize("name", offline.ARCHIVES)
def test_sources_in_the_package_reach_no_network(name: str, tmp_path: Path) -> None:
    """What they are given is the archive; nothing that could send a request is loaded."""
    settings = Settings(data_dir=tmp_path)
    one = collector.Collector(settings, settings.landing(), collector.LogState(), lambda: NOW, print)

    web = one.context(source_named(name)).web

    assert isinstance(web, ArchiveWeb)
    with pytest.raises(SourceError, match="answers no questions"):
        web.post("https://api.example.com/prices", json={})
