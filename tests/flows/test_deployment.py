"""The deployment of prefect.yaml with everything real: a server, a worker, and the commands of docs/scheduling.md."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import prefect_api
import pytest

from flows import launch

ROOT = Path(__file__).parents[2]
UP_WITHIN_S = 120
RUN_WITHIN_S = 300

Prefect = Callable[..., subprocess.CompletedProcess[str]]


@contextmanager
def running(*arguments: str, env: dict[str, str], log: Path) -> Iterator[None]:
    """Run a Prefect process, and end it with all it started."""
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a Prefect home of its own and the address of a server on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CHIPLEDGER_"))}
    env |= {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "NO_PROXY": "127.0.0.1"}
    launch.prepare(tmp_path, env)
    return env


@pytest.fixture
def prefect(env: dict[str, str], tmp_path: Path) -> Iterator[Prefect]:
    """Return a caller of Prefect's command line while a server and a worker run, with the deployments made."""

    def call(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=RUN_WITHIN_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    api = env["PREFECT_API_URL"]
    port = api.rpartition(":")[2].removesuffix("/api")
    with running("server", "start", "--port", port, env=env, log=tmp_path / "server.log"):
        wait_for(api)
        call("work-pool", "create", "chipledger", "--type", "process")
        call("deploy", "--all")
        with running("worker", "start", "--pool", "chipledger", env=env, log=tmp_path / "worker.log"):
            yield call


def wait_for(api: str) -> None:
    """Return when a server answers."""
    end = time.monotonic() + UP_WITHIN_S
    while True:
        try:
            prefect_api.ask(f"{api}/health")
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
        else:
            return


def events(data_dir: Path) -> int:
    """Return the number of price events in the published file."""
    with duckdb.connect(str(data_dir / "prices.duckdb"), read_only=True) as con:
        ((count,),) = con.execute("select count(*) from core.price_event").fetchall()
    return int(count)


def flow_runs(api: str, *, by_schedule: bool = False) -> list[Any]:
    """Return the runs that we asked for, or those of the schedule, in order."""
    found = prefect_api.ask(f"{api}/flow_runs/filter", {"sort": "EXPECTED_START_TIME_ASC"})
    return [each for each in found if each["auto_scheduled"] == by_schedule]


def next_scheduled(api: str) -> str:
    """Return the hour and minute, UTC, of the next run of the schedule; the server plans them once a minute."""
    end = time.monotonic() + UP_WITHIN_S
    while not (planned := flow_runs(api, by_schedule=True)) and time.monotonic() < end:
        time.sleep(2)
    assert planned, "the server planned no run of the schedule"
    return datetime.fromisoformat(planned[0]["expected_start_time"]).astimezone(UTC).strftime("%H:%M")


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_deployment_runs_on_a_worker(prefect: Prefect, env: dict[str, str], tmp_path: Path) -> None:
    """Twice to Completed, the second adds nothing; a wrong run is Failed; the schedule is planned; nothing breaks."""
    api, data_dir = env["PREFECT_API_URL"], tmp_path / "kept"
    run = ("deployment", "run", "daily/daily", "--watch", "--params")
    offline = {"offline": True, "data_dir": str(data_dir)}

    prefect(*run, json.dumps(offline))
    first = events(data_dir)
    prefect(*run, json.dumps(offline))

    assert first > 0
    assert events(data_dir) == first
    assert "| price events | 0 |" in prefect_api.newest_artifact(api, "chipledger-daily")

    prefect(*run, json.dumps({**offline, "sources": ["nobody"]}), code=1)

    assert [each["state_type"] for each in flow_runs(api)] == ["COMPLETED", "COMPLETED", "FAILED"]
    assert next_scheduled(api) == "06:10"
    assert "Traceback" not in (tmp_path / "server.log").read_text(), "a service of the server is broken"


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_two_runs_at_once_go_one_after_the_other(prefect: Prefect, env: dict[str, str], tmp_path: Path) -> None:
    """There is one writer: of two runs started together the second waits, and both complete."""
    api = env["PREFECT_API_URL"]
    for _ in range(2):
        prefect(
            "deployment", "run", "daily/daily", "--params", json.dumps({"offline": True, "data_dir": str(tmp_path)})
        )

    end = time.monotonic() + RUN_WITHIN_S
    while time.monotonic() < end:
        ours = flow_runs(api)
        if all(each["state_type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED") for each in ours):
            break
        time.sleep(2)

    assert [each["state_type"] for each in ours] == ["COMPLETED", "COMPLETED"]
    assert ours[0]["end_time"] <= ours[1]["start_time"]
