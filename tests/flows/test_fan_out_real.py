"""The daily flow past its own threads with everything real: a Prefect server, workers, a Dask cluster, PostgreSQL.

In each way one process is killed in the middle of its scopes: others collect them, and nothing is lost or doubled.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import duckdb
import own_postgres
import psutil
import pytest
from prefect_server import ROOT, running, wait_for
from standin import aws, faults

from extract import SOURCES
from flows.collect import steps
from flows.config import settings
from flows.config.settings import Settings
from flows.scheduling import deploy, launch

REGIONS = ("eu-west-1", "us-east-1", "us-gov-west-1", "us-west-2")
"""Two groups of two, in this order: eu-west-1 and us-gov-west-1, us-east-1 and us-west-2."""
WITHIN_S = 240
Row = tuple[object, ...]


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Return an environment with a Prefect server in it, the deployments made."""
    home = tmp_path_factory.mktemp("prefect")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CHIPLEDGER_"))}
    port = own_postgres.free_port()
    env |= {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_WORKER_QUERY_SECONDS": "1"}
    launch.prepare(home, env)
    with running("server", "start", "--port", str(port), env=env, log=home / "server.log"):
        wait_for(env["PREFECT_API_URL"])
        made = deploy.deploy(ROOT, {"daily": "off", "weekly": "off"}, environ=env)
        assert made.limits
        assert not deploy.deploy(ROOT, {"daily": "off", "weekly": "off"}, environ=env).limits
        yield env


@pytest.fixture
def world(standin: aws.StandIn, env: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Return the environment of runs that ask the stand-in for four regions, with one thread in each of two groups."""
    told = tmp_path / "chipledger.toml"
    off = [each.name for each in SOURCES if each.kind == "live" and each.name != "aws_price_list"]
    told.write_text(
        f'workers = 2\n[site]\ncharts = false\n[sources.aws_price_list]\naccess = "bulk"\nbulk_url = "{standin.url}"\n'
        f"regions = {list(REGIONS)!r}\n" + "".join(f"[sources.{name}]\nenabled = false\n" for name in off)
    )
    return {**env, **standin.environment(), "CHIPLEDGER_SETTINGS": str(told), "CHIPLEDGER_RUN__PROCESSES": "2"}


@contextmanager
def postgres(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Yield the settings of a warehouse whose catalogue lies in a PostgreSQL of its own."""
    folder = own_postgres.programs()
    assert folder is not None, "PostgreSQL's server programs are not installed"
    with own_postgres.running(folder, log=tmp_path / "postgres.log") as server:
        words = {name: server.environment[name] for name in ("PGHOST", "PGPORT", "PGUSER")}
        yield {
            **words, "CHIPLEDGER_WAREHOUSE__URL": "ducklake:postgres:dbname=postgres",
            "CHIPLEDGER_WAREHOUSE__DATA_PATH": str(tmp_path / "rows"),
            "CHIPLEDGER_WAREHOUSE__LANDING": str(tmp_path / "landing"),
        }  # fmt: skip


@contextmanager
def kept(warehouse: str, world: dict[str, str], tmp_path: Path, patch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Yield the environment of runs whose log is a file of one writer, or a lake of many; this process has it too."""
    with postgres(tmp_path) if warehouse == "postgres" else nullcontext({}) as more:
        for name, value in more.items():
            if name.startswith("PG"):
                patch.setenv(name, value)
        yield world | more


def started(world: dict[str, str], data_dir: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start the daily flow by its file, as a process of its own."""
    with log.open("w") as file:
        return subprocess.Popen(
            [sys.executable, "flows/daily.py", "--data-dir", str(data_dir)],
            cwd=ROOT, env=world, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def kill_all(process: psutil.Process) -> None:
    """Kill a process and all that it started."""
    for each in [*process.children(recursive=True), process]:
        each.send_signal(signal.SIGKILL)


def log_of(chosen: Settings) -> tuple[list[Row], list[Row]]:
    """Return what the log says: good looks of each scope, and events without the times that differ from run to run."""
    with steps.open_run(chosen) as one:
        looks = one.con.execute(
            "select scope, status, count(*) from core.scope_run group by all order by all"
        ).fetchall()
        events = one.con.execute(
            "select offer_id, unit_price, document_sha256, count(*) from core.price_event group by all order by all"
        ).fetchall()
    return looks, events


def in_threads(world: dict[str, str], tmp_path: Path) -> list[Row]:
    """Return the events that a run in threads gives."""
    chosen = settings.read(data_dir=tmp_path / "threads", environ=world)
    steps.run(chosen)
    return log_of(chosen)[1]


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("few_marts", "no_comments")
@pytest.mark.parametrize("warehouse", ["file", "postgres"])
def test_a_worker_killed_in_the_middle(
    world: dict[str, str], standin: aws.StandIn, tmp_path: Path, warehouse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its groups are collected by another worker: what it had given is not asked for again, the rest is there once."""
    data_dir = tmp_path / "data"
    with ExitStack() as around:
        for name, value in standin.environment().items():
            monkeypatch.setenv(name, value)
        events = in_threads(world, tmp_path)
        standin.forget()
        world = around.enter_context(kept(warehouse, world, tmp_path, monkeypatch))
        world["CHIPLEDGER_RUN__FAN_OUT"] = "workers"
        for region in ("eu-west-1", "us-west-2"):
            standin.fault(f"bulk:{region}", faults.Delay(60), times=1)
        pool = ("worker", "start", "--pool", deploy.POOL, "--name")
        with running(*pool, "first", env=world, log=tmp_path / "first.log") as first:
            run = started(world, data_dir, tmp_path / "run.log")
            slow = ("eu-west-1", "us-east-1", "us-west-2")
            wait_until(lambda: all(standin.count(f"bulk:{region}") for region in slow), "nobody collects")
            time.sleep(2)
            kill_all(psutil.Process(first.pid))
        around.enter_context(running(*pool, "second", env=world, log=tmp_path / "second.log"))
        code = run.wait(timeout=WITHIN_S)
        told = (tmp_path / "run.log").read_text()

        assert code == 0, told
        assert {region: standin.count(f"bulk:{region}") for region in REGIONS} == {
            "eu-west-1": 2, "us-east-1": 1, "us-gov-west-1": 1, "us-west-2": 2,
        }, told  # fmt: skip
        chosen = settings.read(data_dir=data_dir, environ=world)
        assert log_of(chosen) == ([(region, "ok", 1) for region in REGIONS], events)
        assert f"looks: {len(REGIONS)} ok" in told
        with duckdb.connect(str(data_dir / "prices.duckdb"), read_only=True) as con:
            assert con.execute("select count(*) from core.price_event").fetchall() == [(len(events),)]


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("few_marts", "no_comments")
@pytest.mark.parametrize("warehouse", ["file", "postgres"])
def test_a_process_of_dask_killed_in_the_middle(
    world: dict[str, str], standin: aws.StandIn, tmp_path: Path, warehouse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process of the cluster collects its region, and on a shared warehouse loads it too."""
    for name, value in standin.environment().items():
        monkeypatch.setenv(name, value)
    events = in_threads(world, tmp_path)
    standin.forget()
    for region in ("eu-west-1", "us-east-1"):
        standin.fault(f"bulk:{region}", faults.Delay(5), times=1)
    with kept(warehouse, world, tmp_path, monkeypatch) as there:
        run = started({**there, "CHIPLEDGER_RUN__FAN_OUT": "dask"}, tmp_path / "data", tmp_path / "run.log")
        both = ("eu-west-1", "us-east-1")
        wait_until(lambda: all(standin.count(f"bulk:{region}") for region in both), "nobody collects")
        workers = [each for each in psutil.Process(run.pid).children() if "spawn_main" in " ".join(each.cmdline())]
        workers[0].send_signal(signal.SIGKILL)
        code = run.wait(timeout=WITHIN_S)
        told = (tmp_path / "run.log").read_text()

        assert code == 0, told
        assert len(workers) == 2
        assert sum(standin.count(f"bulk:{region}") for region in REGIONS) == len(REGIONS) + 1
        assert log_of(settings.read(data_dir=tmp_path / "data", environ=there)) == (
            [(region, "ok", 1) for region in REGIONS], events,
        )  # fmt: skip
