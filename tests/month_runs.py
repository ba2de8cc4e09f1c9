"""Runs of a drawn month: a stand-in that sells at its prices, a clock that moves, a Prefect server and a worker.

`chipledger deploy` makes the deployments, whose runs a worker starts with the environment of `environment`. In the
short form a process calls the flows by hand, one after the other: that saves seconds of Prefect for each run.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError

import own_postgres
import prefect_api
import psutil
import yaml
from month_flows import KILLED
from month_prices import OFFERS, UNREADABLE, Month
from neoclouds.case import cases
from neoclouds.servers import OTHER_SCOPES, Site, open_sites
from prefect_server import ROOT, ready_made, running, wait_for
from standin import aws, faults, world

from extract import SOURCES
from flows.scheduling import prefect_setup

PROGRAM = Path(sys.executable).parent / "chipledger"
REGION = "us-east-1"
NODE = 8
PLANS = {("Compute", 1): "plan 1", ("Compute", 3): "plan 3"}
CHIPS = {"H100": "h100-sxm5-80gb", "H200": "h200-sxm5-141gb", "B200": "b200-sxm6-180gb"}
RECIPIENTS = ("ada@example.com", "grace@example.com")
SOURCE_NAMES = tuple(sorted({offer.source for offer in OFFERS.values()}))
WITHIN_S = 240
ASK_EVERY_S = 0.3
SLOW_S = 300
"""For which the slow source keeps a run waiting that is to be killed; the run is gone long before."""


@dataclass(kw_only=True)
class Shop:
    """The stand-in: AWS and the two sites, selling what a month says of the present day."""

    month: Month
    aws: aws.StandIn
    sites: Mapping[str, Site]
    clock: Path
    sold: Mapping[str, Decimal | None] | None = None

    def turn(self, moment: datetime) -> None:
        """Move on to a moment: prices and clock."""
        day = (moment.date() - self.month.first).days
        prices = self.month.prices(day)
        if prices != self.sold:
            self._sell_aws(prices, f"{moment:%Y%m%d}000000")
            self.sites["voltagepark"].body = _locations(prices)
            self.sites["hotaisle"].body = _page(prices)
            self.sold = prices
        if day in self.month.unread:
            self.sites[UNREADABLE].body = _page(prices).replace(b"Virtual machines", b"Cloud machines")
        elif day - 1 in self.month.unread:
            self.sites[UNREADABLE].body = _page(prices)
        ahead = moment - datetime.now(UTC)
        new = self.clock.with_suffix(".new")
        new.write_text(str(ahead.total_seconds()))
        new.replace(self.clock)

    def _sell_aws(self, prices: Mapping[str, Decimal | None], version: str) -> None:
        machines = {
            f"{key}.48xlarge": str(price * NODE)
            for key, price in prices.items()
            if price and OFFERS[key].source == "aws_price_list"
        }
        self.aws.publish(world.edition(version, {REGION: machines}))
        plans = self.aws.savings
        plans.rates = tuple(
            replace(rate, amount=str(price * NODE))
            for rate in plans.rates
            if rate.region == REGION and rate.instance_type == "p5.48xlarge" and rate.usage_type.startswith("BoxUsage")
            and (rate.operation, rate.payment) == ("RunInstances", "No Upfront")
            and (price := prices.get(PLANS.get((rate.plan, rate.years), "")))
        )  # fmt: skip
        plans.version = version


def _locations(prices: Mapping[str, Decimal | None]) -> bytes:
    """Return Voltage Park's answer, of the places that have prices."""
    places = []
    for place in "abcde":
        ethernet, infiniband = prices[f"{place} ethernet"], prices[f"{place} infiniband"]
        if ethernet and infiniband:
            model = CHIPS[OFFERS[f"{place} ethernet"].chip]
            places.append({
                "id": place * 8, "gpu_count_ethernet": 8, "gpu_price_ethernet": str(ethernet),
                "gpu_count_infiniband": 16, "gpu_price_infiniband": str(infiniband),
                "specs_per_node": {"gpu_model": model, "gpu_count": NODE, "cpu_model": "Xeon", "ram_gb": 1024},
            })  # fmt: skip
    answer = {"results": places, "total_result_count": len(places), "has_previous": False, "has_next": False}
    return json.dumps(answer).encode()


def _page(prices: Mapping[str, Decimal | None]) -> bytes:
    """Return Hot Aisle's page, which repeats its prices in a summary."""
    body = next(case for case in cases() if case.source.name == "hotaisle").body
    for key in ("vm", "metal"):
        body = body.replace(f"${OFFERS[key].start}/GPU/hr".encode(), f"${prices[key]}/GPU/hr".encode())
    return body


@contextmanager
def open_shop(month: Month, folder: Path) -> Iterator[Shop]:
    """Give the stand-in of a month."""
    chosen = [case for case in cases() if case.source.name in SOURCE_NAMES]
    with aws.StandIn(world.aws(), world.china()) as cloud, open_sites(chosen) as sites:
        yield Shop(month=month, aws=cloud, sites=sites, clock=folder / "clock")


def environment(shop: Shop, port: int, folder: Path) -> dict[str, str]:
    """Return the environment of runs that ask the stand-in alone, mail to a port here, and go by its clock."""
    off = [source.name for source in SOURCES if source.kind == "live" and source.name not in SOURCE_NAMES]
    lines = [
        f'data_dir = "{folder / "data"}"', "[site]", "charts = false",
        *(line for name in ("aws_price_list", "aws_savings_plans") for line in (
            f"[sources.{name}]", 'access = "bulk"', f'bulk_url = "{shop.aws.url}"', f'regions = ["{REGION}"]')),
        *(line for name, site in shop.sites.items() for line in (
            f"[sources.{name}]", "enabled = true", f'url = "{site.url}"')),
        *(line for name in off for line in (f"[sources.{name}]", "enabled = false")),
        "[mail]", 'from = "prices@example.com"', 'reply_to = "me@example.com"', f"to = {list(RECIPIENTS)}",
        'host = "127.0.0.1"', f"port = {port}", 'tls = "none"',
    ]  # fmt: skip
    settings = folder / "chipledger.toml"
    settings.write_text("\n".join(lines))
    own = ("PREFECT_", "CHIPLEDGER_", "AWS_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return env | shop.aws.environment() | {
        "CHIPLEDGER_SETTINGS": str(settings), "MOVED_CLOCK": str(shop.clock),
        "PYTHONPATH": str(ROOT / "tests/moved_clock"),
        "AWS_CONFIG_FILE": str(folder / "none"), "AWS_SHARED_CREDENTIALS_FILE": str(folder / "none"),
    }  # fmt: skip


# --- runs


class Runs(Protocol):
    """Flows run at moments of a month, on a server."""

    api: str

    def run(self, name: str, moment: datetime) -> bool:
        """Run a flow; return whether it ended well."""

    def killed(self, name: str, moment: datetime, when: Callable[[], bool]) -> bool:
        """Run a flow, whose process is killed as soon as something is so; return whether it ended well."""

    def cron(self, name: str) -> str:
        """Return a flow's schedule."""


class Deployed:
    """Runs of the deployments on a server, which a worker of this test's own takes up."""

    def __init__(self, api: str, worker: "subprocess.Popen[bytes]", data_dir: Path) -> None:
        self.api, self.worker, self.data_dir = api, psutil.Process(worker.pid), data_dir

    def run(self, name: str, moment: datetime) -> bool:
        return self._ended(self._create(name, moment))

    def killed(self, name: str, moment: datetime, when: Callable[[], bool]) -> bool:
        run = self._create(name, moment)
        wait_until(when, "the run never came to where it is killed")
        writer = re.findall(r"process (\d+)", (self.data_dir / "writer.lock").read_text())
        (flow,) = [each for each in self.worker.children(recursive=True) if [str(each.pid)] == writer]
        flow.kill()
        return self._ended(run)

    def cron(self, name: str) -> str:
        """Return the schedule that a deployment has on the server, which plans nothing by itself in this test."""
        (found,) = self._deployment(name)["schedules"]
        assert not found["active"]
        assert found["schedule"]["timezone"] == "UTC"
        return str(found["schedule"]["cron"])

    def _deployment(self, name: str) -> Any:
        return self._ask(f"deployments/name/{name}/{name}")

    def _create(self, name: str, moment: datetime) -> str:
        run = f"{name} {moment:%Y-%m-%d}"
        due = {"type": "SCHEDULED", "state_details": {"scheduled_time": moment.isoformat()}}
        body = {"name": run, "idempotency_key": run, "state": due}  # asked again, it is no second run
        return str(self._ask(f"deployments/{self._deployment(name)['id']}/create_flow_run", body)["id"])

    def _ask(self, path: str, body: object | None = None) -> Any:
        """Return the server's answer; while its database is busy it says 503, or nothing, and is asked again."""
        end = time.monotonic() + WITHIN_S
        while True:
            try:
                return prefect_api.ask(f"{self.api}/{path}", body)
            except OSError as error:
                is_busy = not isinstance(error, HTTPError) or error.code == HTTPStatus.SERVICE_UNAVAILABLE
                if not is_busy or time.monotonic() > end:
                    raise
                time.sleep(ASK_EVERY_S)

    def _ended(self, run: str) -> bool:
        def state() -> Any:
            return self._ask(f"flow_runs/{run}")["state"]

        wait_until(lambda: state()["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"), f"run {run} never ended")
        sys.stdout.write(f"{state()['type']}: {state()['message']}\n")
        return bool(state()["type"] == "COMPLETED")


class ByHand:
    """Runs of the flows, called one after the other by a process's child, which another follows after it was killed."""

    def __init__(self, env: Mapping[str, str], folder: Path) -> None:
        self.api, self._env, self._log = env["PREFECT_API_URL"], dict(env), folder / "flows.log"
        self._process: subprocess.Popen[str] | None = None

    def run(self, name: str, moment: datetime) -> bool:
        process = self._told(name)
        assert process.stdout
        answer = process.stdout.readline()
        assert answer, self._log.read_text()
        sys.stdout.write(answer)
        return answer.startswith("COMPLETED")

    def killed(self, name: str, moment: datetime, when: Callable[[], bool]) -> bool:
        process = self._told(name)
        wait_until(when, "the run never came to where it is killed")
        (child,) = psutil.Process(process.pid).children()
        child.kill()
        assert process.stdout
        assert process.stdout.readline() == f"{KILLED}\n"
        return False

    def cron(self, name: str) -> str:
        """Return the schedule that prefect.yaml has."""
        deployments = yaml.safe_load((ROOT / prefect_setup.FILE_NAME).read_text())["deployments"]
        (schedule,) = next(each for each in deployments if each["name"] == name)["schedules"]
        assert schedule["timezone"] == "UTC"
        return str(schedule["cron"])

    def close(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.communicate(timeout=WITHIN_S)

    def _told(self, name: str) -> "subprocess.Popen[str]":
        if self._process is None:
            with self._log.open("a") as log:
                self._process = subprocess.Popen(
                    [sys.executable, ROOT / "tests/month_flows.py"], cwd=ROOT, env=self._env,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                )  # fmt: skip
        assert self._process.stdin
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return self._process


@contextmanager
def served(env: Mapping[str, str], folder: Path) -> Iterator[dict[str, str]]:
    """Give a server of a test's own: the environment of its clients."""
    port = own_postgres.free_port()
    env = {**env, "PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_WORKER_QUERY_SECONDS": "2"}
    prefect_setup.prepare(folder, env)
    with ExitStack() as held:
        with ready_made(Path(env["PREFECT_HOME"])):
            held.enter_context(running("server", "start", "--port", str(port), env=env, log=folder / "server.log"))
            wait_for(env["PREFECT_API_URL"])
        yield env


UNUSED = ("CANCELLATION_CLEANUP", "FOREMAN", "LATE_RUNS", "PAUSE_EXPIRATIONS", "REPOSSESSOR", "SCHEDULER", "TRIGGERS")
"""Services of a server that look for work every few seconds, and have none where nothing is deployed."""


@contextmanager
def by_hand(env: Mapping[str, str], folder: Path) -> Iterator[ByHand]:
    """Give a server, and what runs flows on it without deployments."""
    idle = {f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false" for name in UNUSED}
    with served({**env, **idle}, folder) as env:
        runs = ByHand(env, folder)
        try:
            yield runs
        finally:
            runs.close()


@contextmanager
def deployed(env: Mapping[str, str], folder: Path) -> Iterator[Deployed]:
    """Give a server that `chipledger deploy` was called for, and a worker with the environment of runs."""
    with served(env, folder) as env:
        command = [str(PROGRAM), "deploy", "--schedule", "daily=off", "--schedule", "weekly=off"]
        made = subprocess.run(
            command, cwd=ROOT, env=env, check=False, timeout=WITHIN_S, capture_output=True, text=True
        )  # fmt: skip
        assert made.returncode == 0, made.stdout + made.stderr
        with running("worker", "start", "--pool", prefect_setup.POOL, env=env, log=folder / "worker.log") as worker:
            yield Deployed(env["PREFECT_API_URL"], worker, folder / "data")


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Return when something is so."""
    end = time.monotonic() + WITHIN_S
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(ASK_EVERY_S)


def landed(shop: Shop, data_dir: Path) -> Callable[[], bool]:
    """Make the slow source keep its answer back; return what says that a run has landed all others."""
    journal = data_dir / "landing" / "journal.jsonl"
    before = len(journal.read_bytes().splitlines())
    shop.aws.fault(f"bulk:{REGION}", faults.Delay(SLOW_S), times=1)
    others = len(SOURCE_NAMES) + len(OTHER_SCOPES.keys() & SOURCE_NAMES) - 1
    return lambda: len(journal.read_bytes().splitlines()) == before + others
