"""The history of SkyPilot's catalogues, out of a real git repository that is made here: true dates, nothing twice."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from git_repository import HEADER, Repository, table

from extract.base import Context
from extract.catalogues import skypilot_catalog as history
from extract.catalogues.skypilot_catalog import CACHE, SOURCE, History
from flows.collect import importer, steps
from flows.config.settings import Settings, read
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SettingsError, SourceError, Unavailable

NOW = datetime(2026, 11, 21, 6, tzinfo=UTC)
VERSIONS = (
    ("2026-04-02T03:00:00+02:00", "69b86f0"), ("2026-04-06T07:00:00+00:00", "ba0a209"),
    ("2026-04-20T14:00:00+00:00", "5738017"), ("2026-05-07T00:00:00+00:00", "5bdbfd4"),
    ("2026-05-07T03:00:00+00:00", "4c06102"),
)  # fmt: skip
"""Days and names of five versions of Lambda's table; the fourth has a header only. The hours are made up."""
CHANGES = (
    "select valid_from, unit_price::varchar from core.price_event join core.offer using (offer_id) "
    "where instance_type = 'gpu_8x_h100_sxm5' and region_id = 'us-east-1' order by all"
)
WAITING = (
    "select quarantine_id, observed_at, row_json->>'unit_price', reason from core.quarantine "
    "where (row_json->>'instance_type') = 'gpu_8x_h100_sxm5' and (row_json->>'region_id') = 'us-east-1' "
    "and decision is null order by observed_at"
)
"""Prices of one machine in one region, and those that wait."""


@pytest.fixture(autouse=True)
def own_clones(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test clones of its own, that go with it."""
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.setattr(history, "_kept", {})
    yield
    for kept in history._kept.values():
        kept.cleanup()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "catalog")


@pytest.fixture
def lambdas(repository: Repository, shared: Path) -> Repository:
    """Return a repository with the five versions of Lambda's table."""
    for at, name in VERSIONS:
        table = (shared / "data/neocloud_samples/lambda" / f"skypilot_lambda_vms_{name}.csv").read_bytes()
        repository.commit(at, v8_lambda=table)
    return repository


def context(url: str, landed: dict[str, Document] | None = None, said: list[str] | None = None) -> Context:
    found = landed or {}
    return Context(
        web=None, settings={"url": url}, now=lambda: NOW, landed=found.get,  # type: ignore[arg-type]
        progress=(said if said is not None else []).append,
    )  # fmt: skip


def looks(
    ctx: Context, scope: str = "lambda", since: datetime | None = None, until: datetime | None = None
) -> list[ScopeFetch]:
    assert SOURCE.backfill
    return list(SOURCE.backfill(ctx, scope, since, until))


def prices(look: ScopeFetch) -> list[str]:
    return [
        row["unit_price"] for document in look.documents for row in SOURCE.parse(document).rows.iter_rows(named=True)
    ]


def settings(folder: Path, url: str) -> Settings:
    return Settings(data_dir=folder, sources={SOURCE.name: {"url": url}})


def collected(folder: Path, url: str, *scopes: str) -> Any:
    with steps.open_run(settings(folder, url), clock=lambda: NOW) as one:
        importer.backfill(one, SOURCE, scopes or ("lambda",), since=None, until=None)
        one.load()
        return one.summary


def test_each_version_is_a_look_at_its_own_date(lambdas: Repository):
    """Oldest first, dated by the committer in UTC, archived and never complete; the bytes are git's."""
    found = looks(context(lambdas.url))

    assert [look.observed_at for look in found] == [datetime.fromisoformat(at).astimezone(UTC) for at, _ in VERSIONS]
    assert {(look.archived, look.complete, look.source, look.scope) for look in found} == {
        (True, False, "skypilot_catalog", "lambda")
    }
    (document,) = found[0].documents
    assert document.body.startswith(b"InstanceType,")
    assert document.published_at == datetime(2026, 4, 2, 1, tzinfo=UTC)
    assert document.url.startswith(f"{lambdas.url}/blob/")
    assert document.url.endswith("/catalogs/v8/lambda/vms.csv")
    assert document.version_key.endswith(":catalogs/v8/lambda/vms.csv")


def test_days_choose_the_versions(lambdas: Repository):
    """Both ends belong to what was asked for."""
    ctx = context(lambdas.url)
    since, until = datetime(2026, 4, 6, 7, tzinfo=UTC), datetime(2026, 4, 20, 14, tzinfo=UTC)

    assert [look.observed_at.day for look in looks(ctx, since=since, until=until)] == [6, 20]
    assert [look.observed_at.day for look in looks(ctx, until=datetime(2026, 4, 5, tzinfo=UTC))] == [2]


def test_the_log_has_the_change_points(lambdas: Repository, tmp_path: Path):
    """Prices change where they did; the header alone is a failed look, and what follows it is read.

    Lambda raised one machine's price in all 17 regions at once: the versions after it confirm that.
    """
    summary = collected(tmp_path / "data", lambdas.url)
    first = (datetime(2026, 4, 2, 1), "27.5200000000")  # noqa: DTZ001
    rise = (datetime(2026, 4, 6, 7), "31.9200000000")  # noqa: DTZ001

    assert [(look.status, look.observed_at.date().isoformat()) for look in summary.results] == [
        ("ok", "2026-04-02"), ("ok", "2026-04-06"), ("ok", "2026-04-20"), ("failed", "2026-05-07"),
        ("ok", "2026-05-07"),
    ]  # fmt: skip
    with duckdb.connect(str(tmp_path / "data" / "build.duckdb"), read_only=True) as con:
        assert con.execute(CHANGES).fetchall() == [first, rise]
        assert con.execute(WAITING).fetchall() == []
        (error,) = con.execute("select error from core.scope_run where status = 'failed'").fetchall()
    assert "found only a header" in error[0]


def test_a_second_run_loads_nothing_twice(lambdas: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No file of a landed version is asked for again, and the log stays as it is; a new version comes beside."""
    collected(tmp_path / "data", lambdas.url)
    before = events(tmp_path / "data")
    read_again: list[str] = []
    real = History.read

    def counted(self: History, version: Any) -> bytes:
        read_again.append(version.key)
        return real(self, version)

    monkeypatch.setattr(History, "read", counted)
    again = collected(tmp_path / "data", lambdas.url)

    assert read_again == []
    assert {look.status for look in again.results} == {"known"}
    assert events(tmp_path / "data") == before
    lambdas.commit("2026-06-01T00:00:00+00:00", v8_lambda=table("0.99"))
    assert [look.status for look in collected(tmp_path / "data", lambdas.url).results].count("ok") == 1
    assert len(read_again) == 1
    assert events(tmp_path / "data") == before + 1


def events(folder: Path) -> int:
    with duckdb.connect(str(folder / "build.duckdb"), read_only=True) as con:
        (row,) = con.execute("select count(*) from core.price_event").fetchall()
    return int(row[0])


def test_a_backfill_that_broke_off_goes_on(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What was landed before the break is kept and not read again; the end is that of one run."""
    for day in range(1, 6):
        repository.commit(f"2026-03-0{day}T00:00:00+00:00", v8_lambda=table(f"1.0{day}"))
    real, read_keys = History.read, []

    def failing(self: History, version: Any) -> bytes:
        if len(read_keys) == 3:
            raise Unavailable("git cat-file failed: connection reset", source=SOURCE.name)
        read_keys.append(version.key)
        return real(self, version)

    monkeypatch.setattr(History, "read", failing)
    broken = collected(tmp_path / "data", repository.url)
    assert sorted(look.status for look in broken.results) == ["failed", "ok", "ok", "ok"]

    monkeypatch.setattr(History, "read", real)
    monkeypatch.setattr(History, "read", lambda self, version: read_keys.append(version.key) or real(self, version))
    collected(tmp_path / "data", repository.url)

    assert len(read_keys) == len(set(read_keys)) == 5
    assert events(tmp_path / "data") == 5


def test_the_newest_format_counts(repository: Repository):
    """Two formats in one commit say the same twice; once there is a newer one, the older is followed no more."""
    repository.commit("2026-01-01T00:00:00+00:00", v7_lambda=table("1.01"))
    repository.commit("2026-01-02T00:00:00+00:00", v7_lambda=table("1.02"), v8_lambda=table("2.02"))
    repository.commit("2026-01-03T00:00:00+00:00", v7_lambda=table("1.03"))
    repository.commit("2026-01-04T00:00:00+00:00", v10_lambda=table("3.04"), v8_lambda=table("2.04"))
    repository.commit("2026-01-05T00:00:00+00:00", v8_lambda=table("2.05"), v8_vast=HEADER)

    assert [prices(look) for look in looks(context(repository.url))] == [["1.01"], ["2.02"], ["3.04"]]


def test_a_merge_dates_what_it_brought(repository: Repository):
    """A version is public when it is merged, not when it was written; one that was deleted is no version."""
    repository.commit("2026-01-01T00:00:00+00:00", v8_lambda=table("1.01"))
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("2026-01-02T00:00:00+00:00", v8_lambda=table("1.02"))
    repository.git("checkout", "--quiet", "master")
    repository.git("merge", "--quiet", "--no-ff", "--no-edit", "side", at="2026-01-09T00:00:00+00:00")
    (repository.folder / "catalogs/v8/lambda/vms.csv").unlink()
    repository.commit("2026-01-10T00:00:00+00:00", v8_vast=HEADER)

    found = looks(context(repository.url))
    assert [(look.observed_at.day, prices(look)) for look in found] == [(1, ["1.01"]), (9, ["1.02"])]


def test_a_clone_has_no_files_until_they_are_read(lambdas: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Folders of all commits come with the clone, tables one by one; the clone stays where it is told to."""
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    said: list[str] = []
    cloned = History.of(context(lambdas.url, said=said))
    versions = cloned.versions("lambda")

    assert len(versions) == len(VERSIONS)
    assert [blobs_of(cloned), cloned.read(versions[0])[:12], blobs_of(cloned)] == [0, b"InstanceType", 1]
    assert cloned.clone.parent == tmp_path / "cache"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [history.FOLDER]
    assert "cloning" in said[0]
    History.of(context(lambdas.url, said=said))
    assert "new commits" in said[-1]
    with pytest.raises(SettingsError, match="another repository"):
        History.of(context(f"file://{tmp_path}"))


def blobs_of(cloned: History) -> int:
    """Return how many files the clone has of its own."""
    told = subprocess.run(
        ["git", "-C", cloned.clone, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return told.split().count("blob")


def test_a_temporary_clone_goes(repository: Repository):
    """Without a folder for it the clone lasts as long as the process, and is shared by its scopes."""
    repository.commit("2026-01-01T00:00:00+00:00", v8_lambda=table("1.01"), v8_nebius=HEADER)
    clones = {History.of(context(repository.url)).clone for _ in range(2)}

    assert len(clones) == 1
    history._kept[repository.url].cleanup()
    assert not clones.pop().exists()


def test_what_is_not_there_is_named(repository: Repository, tmp_path: Path):
    """A provider without a table, one that is not read, a repository that is not there."""
    repository.commit("2026-01-01T00:00:00+00:00", v8_lambda=table("1.01"))

    with pytest.raises(SourceError, match="no such table") as raised:
        looks(context(repository.url), "vast")
    assert raised.value.value == "vast"
    with pytest.raises(SourceError, match="no such scope"):
        looks(context(repository.url), "../../etc")
    with pytest.raises(Unavailable, match="git clone failed"):
        looks(context(f"file://{tmp_path}/nowhere"))
    assert not list((tmp_path / "cache").glob("*"))


@pytest.mark.parametrize(
    "url", ["ext::sh -c touch% /tmp/pwned", "--upload-pack=touch", "ssh://example.com/x", "http://example.com/x",
            "https://name:secret@example.com/x", "/somewhere"],
)  # fmt: skip
def test_only_some_addresses_reach_git(url: str, monkeypatch: pytest.MonkeyPatch):
    """git can be made to run programs by an address; it never sees such a one."""
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **others: pytest.fail(f"{words}"))
    with pytest.raises(SettingsError) as raised:
        looks(context(url))
    assert raised.value.field == "url"


def test_only_the_protocol_of_the_address_is_let_through(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Settings of this machine that lead https elsewhere do not open another door, nor does a hook's GIT_DIR."""
    repository.commit("2026-01-01T00:00:00+00:00", v8_lambda=table("1.01"))
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "{repository.url}"]\n    insteadOf = https://example.com/catalog\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))

    assert len(looks(context(repository.url))) == 1
    with pytest.raises(Unavailable, match="transport 'file' not allowed"):
        looks(context("https://example.com/catalog"))


def test_without_git_the_error_says_so(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Only this source needs it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="git is not installed") as raised:
        looks(context(repository.url))
    assert "Install git" in raised.value.hint


def test_it_has_no_present(tmp_path: Path):
    """It is part of no run, on or off: a backfill reads it; and a live look at it is an error."""
    with pytest.raises(SourceError, match="past prices only"):
        SOURCE.fetch(context("https://example.com"), "lambda")
    with steps.open_run(Settings(data_dir=tmp_path / "data"), clock=lambda: NOW) as one:
        assert SOURCE not in [*one.collector.sources(), *one.collector.sources(offline=True)]
    enabled = Settings(data_dir=tmp_path / "data", sources={SOURCE.name: {"enabled": True}})
    with steps.open_run(enabled, clock=lambda: NOW) as one:
        assert SOURCE not in [*one.collector.sources(), *one.collector.sources(offline=True)]
    assert SOURCE.max_age is None


def test_the_address_is_a_setting(tmp_path: Path):
    """As in the file of settings."""
    file = tmp_path / "chipledger.toml"
    file.write_text('[sources.skypilot_catalog]\nurl = "file:///srv/catalog"\n')
    assert read(file).source(SOURCE.name) == {"url": "file:///srv/catalog"}
