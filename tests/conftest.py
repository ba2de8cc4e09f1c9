"""What all tests share: no network but loopback, the folder of reference data, and the stand-in for AWS."""

import functools
import gc
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import kept
import landing_places
import own_postgres
import pytest
import urllib3
from one_thread import narrow
from standin import aws, world
from standin.catalogue import Catalogue
from standin.reading import client

from extract.web.certificates import VARIABLES
from warehouse.lake import place as where
from warehouse.lake.place import Place

LOOPBACK = ["127.0.0.1", "::1", "localhost"]
OFFLINE_AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
HISTORY_AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
HISTORY = ("neocloud_history.csv", "aws_on_demand_observations.csv")
CERTIFICATES = {name: os.environ.get(name) for name in VARIABLES}
SHARED = Path(__file__).resolve().parents[2] / "shared"

for name in ("COLUMNS", "LINES"):
    # Readline, which pytest imports, states 80 by 24 to each process that it starts: no terminal of anybody's.
    os.environ.pop(name, None)
    os.unsetenv(name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let logs be lakes: `--warehouse=lake`."""
    parser.addoption(
        "--warehouse", choices=("file", "lake"), default="file", help="what the log is that tests write [file]"
    )


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Let every test connect to loopback only, unless it says otherwise itself; leave out a file's own, on lakes."""
    if config.getoption("--warehouse") == "lake":
        of_file = [item for item in items if item.get_closest_marker("of_file")]
        items[:] = [item for item in items if item not in of_file]
        config.hook.pytest_deselected(items=of_file)
    for item in items:
        if item.get_closest_marker("allow_hosts") is None:
            item.add_marker(pytest.mark.allow_hosts(LOOPBACK))


def pytest_collection_finish() -> None:
    """Search for rubbish seldom, at a tenth less of the processor's time, and never among what stays to the end.

    That is what was imported and collected: half a million objects.
    """
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take back the variables of certificates that a client has set for the whole process; drop a test's lakes."""
    for name, value in CERTIFICATES.items():
        if os.environ.get(name) != value:
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    if item.config.getoption("--warehouse") == "lake":
        import log_place

        log_place.drop(getattr(item, "funcargs", {}).get("tmp_path"))


@pytest.fixture(scope="session", autouse=True)
def lean() -> Iterator[None]:
    """Let this machine be asked without pauses, which `own_pauses` takes back, and DuckDB work with one thread."""
    from extract.web.polite import PAUSES_S

    with narrow(), pytest.MonkeyPatch.context() as patch:
        patch.setitem(PAUSES_S, "127.0.0.1", 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def warehouse(lean: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Let the logs of all tests be what `--warehouse` says; give the lakes, or None."""
    import log_place

    if request.config.getoption("--warehouse") == "file":
        with log_place.files(tmp_path_factory.mktemp("logs")):
            yield None
        return
    with log_place.lakes(tmp_path_factory.mktemp("lakes")) as lakes:
        yield lakes


@pytest.fixture
def migrated_anew(warehouse: Any) -> Iterator[None]:
    """Let each file of a log be migrated by the product itself."""
    import log_place

    with log_place.anew() if warehouse is None else nullcontext():
        yield


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return libpq's words for the superuser of a PostgreSQL of this run's own, without a database."""
    programs = own_postgres.programs()
    if not programs:
        message = "no PostgreSQL: apt-get install postgresql"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with own_postgres.running(programs, log=tmp_path_factory.mktemp("postgres") / "log") as server:
        yield f"host={server.environment['PGHOST']} port={server.port} user=postgres"


@pytest.fixture
def lake_place(postgres: str, tmp_path: Path) -> Place:
    """Return a new place of a lake: a schema of its own in PostgreSQL, and a folder for its rows."""
    return where.place(
        tmp_path / "data", url=f"ducklake:postgres:{postgres} dbname=postgres", data_path=str(tmp_path / "lake"),
        schema=f"lake_{secrets.token_hex(6)}",
    )  # fmt: skip


@pytest.fixture(scope="module")
def unsigned_extensions() -> Iterator[None]:
    """Leave the signatures of DuckDB's extensions unread."""
    import log_place

    with log_place.unsigned_extensions():
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the repository."""
    if not SHARED.is_dir():
        message = f"no folder {SHARED}"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return SHARED


@pytest.fixture(scope="session")
def offline_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of one run over the offline archive, with all marts and pages; read it, or copy it."""
    from flows.collect.steps import run
    from flows.config.settings import Settings

    return kept.once(
        tmp_path_factory,
        "offline",
        lambda folder: run(Settings(data_dir=folder), offline=True, clock=lambda: OFFLINE_AT),
    )


@pytest.fixture(scope="session")
def release_site(tmp_path_factory: pytest.TempPathFactory, offline_run: Path) -> Path:
    """Return a site of releases, that of the archive and that of an import; read it, or copy it."""
    import released_site

    return kept.once(tmp_path_factory, "release", lambda folder: released_site.make(folder, offline_run)) / "site"


@pytest.fixture(scope="session")
def catalogues() -> tuple[Catalogue, Catalogue]:
    """Return the stand-in's catalogues, AWS's and China's, built once; they are values and never change."""
    return world.aws(), world.china()


@pytest.fixture(scope="session")
def shared_history(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Path:
    """Return a data directory with the shared history imported and published; read it, or copy it."""
    from flows.collect import importer
    from flows.collect.steps import open_run
    from flows.config.settings import Settings

    def make(folder: Path) -> None:
        with open_run(Settings(data_dir=folder), clock=lambda: HISTORY_AT) as one:
            for name in HISTORY:
                importer.land(one, importer.landed(shared / "data" / name, one.clock()))
            one.load()
            one.publisher.publish()

    return kept.once(tmp_path_factory, "shared-history", make)


@pytest.fixture
def standin(
    catalogues: tuple[Catalogue, Catalogue], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[aws.StandIn]:
    """Return a running stand-in for AWS, and let boto3 find it and nothing of this machine's own settings."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-aws-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-aws-credentials"))
    with aws.StandIn(*catalogues) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """Return the address of an S3 server on loopback, with one bucket."""
    with landing_places.s3_server() as address:
        yield address


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> landing_places.Place:
    """Return an empty place in a bucket, whose credentials boto3 finds, and nothing of this machine's own settings."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in landing_places.s3_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    return landing_places.new_place(s3_server)


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> landing_places.Place:
    """Return an empty place for a landing: first a folder, then a bucket."""
    if request.param == "folder":
        return landing_places.Place(tmp_path / "landing")
    found: landing_places.Place = request.getfixturevalue("bucket")
    return found


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give Prefect, which reads its environment when it is imported, a home of its own and no server of anybody's."""
    from flows.scheduling import prefect_setup

    with pytest.MonkeyPatch.context() as patch:
        for name in (name for name in list(os.environ) if name.startswith("PREFECT_")):
            patch.delenv(name)
        environ = dict(os.environ)
        prefect_setup.prepare(tmp_path_factory.mktemp("prefect"), environ)
        for name in environ.keys() - os.environ.keys():
            patch.setenv(name, environ[name])
        yield


@pytest.fixture
def daily_file(prefect_home: None, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return flows/daily.py as Prefect loads it: by path, as a module called `daily`."""
    from prefect.flows import load_flow_from_entrypoint

    monkeypatch.chdir(Path(__file__).parents[1])
    monkeypatch.setattr(sys, "path", list(sys.path))
    flow = load_flow_from_entrypoint("flows/daily.py:daily")
    return sys.modules[flow.__module__]


@pytest.fixture
def web(standin: aws.StandIn) -> Iterator[urllib3.PoolManager]:
    """Return a plain HTTP client for the stand-in, without retries, so that faults show."""
    with urllib3.PoolManager(retries=False, timeout=5) as pool:
        yield pool


@pytest.fixture
def pricing(standin: aws.StandIn) -> Any:
    """Return boto3's own pricing client for the stand-in, without retries, so that faults show."""
    return client("pricing")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let retries pause hardly at all."""
    from extract.web.http import HttpWeb, Retries

    soon = Retries(attempts=2, pause_s=0.001)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    monkeypatch.setattr("extract.web.http.STREAM_RETRIES", soon)
    monkeypatch.setattr("extract.web.http.HttpWeb", functools.partial(HttpWeb, retries=soon))


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let botocore retry at once, also when it is throttled; return the pauses that it would have made, in seconds."""
    found: list[float] = []
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=found.append))
    monkeypatch.setattr("botocore.retries.bucket.TokenBucket.acquire", lambda *_, **__: True)
    return found


@pytest.fixture
def own_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pauses be those of the product, on this machine too."""
    from extract.web.polite import PAUSES_S

    monkeypatch.delitem(PAUSES_S, "127.0.0.1")
