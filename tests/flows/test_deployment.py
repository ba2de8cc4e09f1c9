"""The deployment of prefect.yaml with everything real: a server, a worker, and the commands of docs/scheduling.md."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import prefect_api
import pytest
from prefect_server import ROOT, UP_WITHIN_S, running, wait_for

from extract import SOURCES
from flows.scheduling import prefect_setup

RUN_WITHIN_S = 300

Prefect = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a Prefect home of its own, the address of a server on a free port, and settings by
    which a live run asks nobody."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CHIPLEDGER_"))}
    env |= {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "NO_PROXY": "127.0.0.1"}
    live = [source.name for source in SOURCES if source.kind == "live"]
    settings = tmp_path / "chipledger.toml"
    settings.write_text(
        f'data_dir = "{tmp_path / "live"}"\n' + "".join(f"[sources.{name}]\nenabled = false\n" for name in live)
    )
    env["CHIPLEDGER_SETTINGS"] = str(settings)
    prefect_setup.prepare(tmp_path, env)
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
        prefect_setup.deploy(ROOT, {}, environ=env)
        with running("worker", "start", "--pool", "chipledger", env=env, log=tmp_path / "worker.log"):
            yield call


def events(data_dir: Path) -> int:
    """Return the number of price events in the published file."""
    with duckdb.connect(str(data_dir / "prices.duckdb"), read_only=True) as con:
        ((count,),) = con.execute("select count(*) from core.price_event").fetchall()
    return int(count)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def flow_runs(api: str, *, by_schedule: bool = False) -> list[Any]:
    """Return the runs that we asked for, or those of the schedule, in order."""
    found = prefect_api.ask(f"{api}/flow_runs/filter", {"sort": "EXPECTED_START_TIME_ASC"})
    return [each for each in found if each["auto_scheduled"] == by_schedule]


def next_scheduled(api: str, name: str) -> str:
    """Return the hour and minute, UTC, of the next run that a deployment's schedule plans; planned once a minute."""
    deployment = prefect_api.ask(f"{api}/deployments/name/{name}/{name}")["id"]
    end = time.monotonic() + UP_WITHIN_S
    while time.monotonic() < end:
        planned = [each for each in flow_runs(api, by_schedule=True) if each["deployment_id"] == deployment]
        if planned:
            return datetime.fromisoformat(planned[0]["expected_start_time"]).astimezone(UTC).strftime("%H:%M")
        time.sleep(2)
    raise AssertionError(f"the server planned no run of {name}")


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_deployment_runs_on_a_worker(prefect: Prefect, env: dict[str, str], tmp_path: Path) -> None:
    """Twice to Completed, the second adds nothing; a wrong run is Failed; schedules are planned, can be changed and
    changed back, which a schedule without its name could not; nothing breaks."""
    api, data_dir = env["PREFECT_API_URL"], tmp_path / "kept"
    run = ("deployment", "run", "daily/daily", "--watch", "--params")
    offline = {"offline": True, "data_dir": str(data_dir)}

    prefect(*run, json.dumps(offline))
    first = events(data_dir / "offline")
    prefect(*run, json.dumps(offline))

    assert first > 0
    assert events(data_dir / "offline") == first
    assert "| price events | 0 |" in prefect_api.newest_artifact(api, "chipledger-daily")

    prefect(*run, json.dumps({**offline, "sources": ["nobody"]}), code=1)

    assert [each["state_type"] for each in flow_runs(api)] == ["COMPLETED", "COMPLETED", "FAILED"]
    assert (next_scheduled(api, "daily"), next_scheduled(api, "weekly")) == ("06:10", "08:10")

    prefect_setup.deploy(ROOT, {"daily": "25 4 * * *", "weekly": "off"}, environ=env)
    prefect_setup.deploy(ROOT, {"daily": "35 4 * * *", "weekly": "15 9 * * *"}, environ=env)

    assert (next_scheduled(api, "daily"), next_scheduled(api, "weekly")) == ("04:35", "09:15")
    assert "Traceback" not in (tmp_path / "server.log").read_text(), "a service of the server is broken"


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_a_schedule_fires_by_itself(prefect: Prefect, env: dict[str, str], tmp_path: Path) -> None:
    """A run that nobody asked for, of a schedule of every minute, begins at its minute; where no source is on it is
    Failed, and says so."""
    api = env["PREFECT_API_URL"]
    prefect_setup.deploy(ROOT, {"daily": "* * * * *", "weekly": "off"}, environ=env)

    end = time.monotonic() + RUN_WITHIN_S
    done: list[Any] = []
    while not done and time.monotonic() < end:
        done = [each for each in flow_runs(api, by_schedule=True) if each["end_time"]]
        time.sleep(2)

    assert done, "no run of the schedule came to its end"
    assert done[0]["state_type"] == "FAILED"
    assert "no scope" in done[0]["state"]["message"]
    # A worker begins a little before the minute.
    assert abs((moment(done[0]["start_time"]) - moment(done[0]["expected_start_time"])).total_seconds()) < 60


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
