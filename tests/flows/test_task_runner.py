"""`run.task_runner`: threads or Dask's processes collect the same; a process that dies costs nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import psutil
import pytest
from standin import aws, faults

from extract import SOURCES
from flows.collect import steps
from flows.config import settings

ROOT = Path(__file__).parents[2]
REGIONS = ("eu-west-1", "us-east-1", "us-gov-west-1", "us-west-2")
WITHIN_S = 240


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def log_of(data_dir: Path) -> tuple[list[object], list[object]]:
    """Return the good fetches of each scope, and the events without the times that differ from run to run."""
    with duckdb.connect(str(data_dir / "build.duckdb"), read_only=True) as con:
        fetches = con.execute("select scope, status, count(*) from core.scope_run group by all order by all").fetchall()
        events = con.execute(
            "select offer_id, unit_price, document_sha256, count(*) from core.price_event group by all order by all"
        ).fetchall()
    return fetches, events


@pytest.mark.prefect
@pytest.mark.prove
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("few_marts")
def test_a_process_of_dask_killed_in_the_middle(
    standin: aws.StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process fetches its regions; the log is that of a run in threads."""
    own = tmp_path / "chipledger.toml"
    off = [each.name for each in SOURCES if each.kind == "live" and each.name != "aws_price_list"]
    own.write_text(
        f'workers = 2\n[site]\ncharts = false\n[sources.aws_price_list]\naccess = "bulk"\nbulk_url = "{standin.url}"\n'
        f"regions = {list(REGIONS)!r}\n" + "".join(f"[sources.{name}]\nenabled = false\n" for name in off)
    )
    for name, value in {**standin.environment(), "CHIPLEDGER_SETTINGS": str(own)}.items():
        monkeypatch.setenv(name, value)
    steps.run(settings.read(data_dir=tmp_path / "threads"))
    standin.forget()
    for region in ("eu-west-1", "us-east-1"):
        standin.fault(f"bulk:{region}", faults.Delay(5), times=1)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    env |= {"CHIPLEDGER_RUN__TASK_RUNNER": "dask", "CHIPLEDGER_RUN__PROCESSES": "2"}
    with (tmp_path / "run.log").open("w") as log:
        run = subprocess.Popen(
            [sys.executable, "flows/daily.py", "--data-dir", str(tmp_path / "dask")],
            cwd=ROOT,
            env=env,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    wait_until(lambda: all(standin.count(f"bulk:{name}") for name in ("eu-west-1", "us-east-1")), "nothing is fetched")
    children = psutil.Process(run.pid).children(recursive=True)
    workers = [each for each in children if "spawn_main" in " ".join(each.cmdline())]
    workers[0].send_signal(signal.SIGKILL)
    code = run.wait(timeout=WITHIN_S)

    assert code == 0, (tmp_path / "run.log").read_text()
    assert len(workers) == 2
    assert sum(standin.count(f"bulk:{region}") for region in REGIONS) == len(REGIONS) + 1
    assert log_of(tmp_path / "dask") == log_of(tmp_path / "threads")
    assert log_of(tmp_path / "dask")[0] == [(region, "ok", 1) for region in REGIONS]
