"""From a fresh clone to a scheduled run and a mail, by the commands that docs/scheduling.md shows, and by no other.

The committed tree is cloned; PostgreSQL, a Prefect server on it, the deployments and a worker, started as the shipped
unit starts it, are as the document says. The scheduler starts the daily run, whose sources are stand-ins, and the
weekly one, whose mail a real SMTP server takes over STARTTLS. With CHIPLEDGER_PROOF_DIR set, a transcript, screenshots
of Prefect's pages and the mail are kept in that folder.
"""

import email
import email.policy
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import duckdb
import mail_server
import own_postgres
import prefect_api
import pytest
from chromium import BROWSER
from doc_blocks import block, here
from neoclouds.case import cases
from neoclouds.servers import open_sites
from playwright.sync_api import Page, sync_playwright
from standin import aws, world
from standin.catalogue import ON_DEMAND, Edition, Product, sku_of, ten_places
from transcript import Terminals

from extract import SOURCES

ROOT = Path(__file__).parents[2]
POSTGRES = own_postgres.programs()
BY_PREFECT = "With Prefect: a server, a worker, a page for every run"
ON_POSTGRES = "The server on PostgreSQL"
SEEN_IN_RUNS = "What a run shows"
IN_DOCUMENT, UNIT_FOLDER = "127.0.0.1:4200", "/srv/chipledger"
PASSWORD = "by-nobody-3"
AWS_SOURCES = ("aws_price_list", "aws_savings_plans")
NEOCLOUDS = ("lambda", "nebius", "verda")
CUT, RAISED = "p5.48xlarge", "p4d.24xlarge"
"""The machines whose price AWS's stand-in cuts in the week that is over, and raises today."""
A_MINUTE, LONG = 60.0, 600.0

pytestmark = [
    pytest.mark.prefect,
    pytest.mark.prove,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(POSTGRES is None or BROWSER is None, reason="needs PostgreSQL's server programs and Chromium"),
]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where all of it happens: the clone, the terminals in it, what is kept, and the port of the Prefect server."""

    clone: Path
    terminals: Terminals
    kept: Path
    port: int
    document: Path

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def said(self, heading: str, begins: str, instead: Mapping[str, str] | None = None) -> str:
        """Return the command of the document that begins so, with what differs here."""
        return here(block(self.document, heading, begins=begins), instead or {})


def environment(home: Path) -> dict[str, str]:
    """Return this process's environment without what is another's, with uv where make finds it."""
    others = ("PREFECT_", "CHIPLEDGER_", "AWS_", "PG", "VIRTUAL_ENV", "PYTHON", "UV_PROJECT", "COV_", "PYTEST_")
    found = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    uv = shutil.which("uv") or ROOT / ".tools/bin/uv"
    if Path(uv).exists():
        (home / "bin").mkdir()
        (home / "bin/uv").symlink_to(Path(uv).resolve())
        found["PATH"] = f"{home / 'bin'}:{found['PATH']}"
    return {**found, "PREFECT_HOME": str(home / "prefect"), "NO_PROXY": "127.0.0.1,localhost", "DO_NOT_TRACK": "1"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a fresh clone of what is committed, with nothing in it but that."""
    kept = Path(os.environ.get("CHIPLEDGER_PROOF_DIR") or tmp_path / "kept").resolve()
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "transcript.txt").unlink(missing_ok=True)
    clone, port = tmp_path / "chipledger", own_postgres.free_port()
    subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, clone], check=True)
    document = clone / "docs/scheduling.md"
    first = here(block(document, BY_PREFECT, begins="export PATH="), {IN_DOCUMENT: f"127.0.0.1:{port}"})
    terminals = Terminals(
        folder=clone, environment=environment(tmp_path), record=kept / "transcript.txt", first=first
    )  # fmt: skip
    return Place(clone=clone, terminals=terminals, kept=kept, port=port, document=document)


# --- what is beside it: PostgreSQL, providers, a mail server


def made_database(place: Place, postgres: own_postgres.Postgres) -> str:
    """Make user and database as the document says, and return the command that starts the server on them."""
    told = place.terminals
    told.note(f"{postgres.version}; a cluster of this test on port {postgres.port}, whose superuser these commands are")
    install, user, database = block(place.document, ON_POSTGRES, begins="sudo apt-get").splitlines()
    told.note(f"not typed, as it is installed: {install}")
    as_superuser = {"sudo -u postgres ": ""}
    told.answer(
        here(user, as_superuser), {"for new role": PASSWORD, "again": PASSWORD}, within=A_MINUTE,
        more=postgres.environment,
    )  # fmt: skip
    told.type(here(database, as_superuser), within=A_MINUTE, more=postgres.environment)
    ours = {"PASSWORD": PASSWORD, ":5432/": f":{postgres.port}/"}
    return place.said(ON_POSTGRES, "export PREFECT_SERVER", ours)


def on_list(instance_type: str, share: float) -> Any:
    """Return a change of AWS's catalogue: one machine's on-demand rates, everywhere, times a share."""

    def change(product: Product) -> Product:
        rates = [float(rate.amount) for term, rate in product.rates() if term.code == ON_DEMAND]
        if product.instance_type != instance_type or not any(rates):
            return product
        return product.with_amount(ten_places(str(round(rates[0] * share, 4))))

    return change


def last_wednesday(now: datetime) -> datetime:
    """Return noon of the Wednesday of the last ISO week that is over."""
    monday = now.date() - timedelta(days=now.weekday() + 7)
    return datetime(monday.year, monday.month, monday.day, 12, tzinfo=UTC) + timedelta(days=2)


def settings(place: Place, cloud: aws.StandIn, sites: Mapping[str, Any], mail: mail_server.Server) -> str:
    """Return chipledger.toml: the table [mail] of docs/mail.md with our server, and where the stand-ins are."""
    table = block(place.clone / "docs/mail.md", "The mail", begins="[mail]", language="toml")
    ours = {
        '"smtp.example.com"': '"localhost"',
        "port = 587": f"port = {mail.port}",
        'user = "prices@example.com"': 'user = "me"',
    }
    lines = [here(table, ours)]
    for source in SOURCES:
        lines.append(f"\n[sources.{source.name}]")
        if source.name in sites:
            lines += ["enabled = true", f'url = "{sites[source.name].url}"']
        elif source.name in AWS_SOURCES:
            lines += [f'bulk_url = "{cloud.url}"', 'regions = ["us-east-1", "us-west-2"]']
        elif source.kind == "live":
            lines.append("enabled = false")
    return "\n".join(lines) + "\n"


# --- the worker, as systemd starts it


def worker_of_the_unit(place: Place, more: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return command and environment of the worker as systemd would start it from the shipped unit and its file."""
    shipped, etc, var = (place.clone / "packaging/systemd", place.clone.parent / "etc", place.clone.parent / "var")
    etc.mkdir()
    ours = {UNIT_FOLDER: str(place.clone), "/etc/chipledger": str(etc), "/var/lib/chipledger": str(var)}
    units = {file.name: file.read_text(encoding="utf-8") for file in shipped.glob("*.service")}
    for name, text in units.items():
        (etc / name).write_text(here(text, ours), encoding="utf-8")
    if systemd := shutil.which("systemd-analyze"):
        place.terminals.type(f"{systemd} verify --man=no {etc}/*.service", within=A_MINUTE)
    lines = here((shipped / "worker.env").read_text(), {IN_DOCUMENT: f"127.0.0.1:{place.port}"}).splitlines()
    lines += [f"{name}={value}" for name, value in more.items()]
    (etc / "worker.env").write_text("\n".join(lines) + "\n", encoding="utf-8")

    unit = dict(re.findall(r"^(\w+)=(.*)$", (etc / "chipledger-worker.service").read_text(), flags=re.MULTILINE))
    assert unit["WorkingDirectory"] == str(place.clone)
    assert unit["EnvironmentFile"] == str(etc / "worker.env")
    home = Path(unit["Environment"].partition("=")[2])
    assert home == Path(f"/var/lib/{unit['StateDirectory']}".replace("/var/lib/chipledger", str(var)))
    home.mkdir(parents=True)  # as systemd makes it
    clean = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8", "HOME": str(var)}
    given = [unit["Environment"], *(line for line in lines if line and not line.startswith("#"))]
    command = unit["ExecStart"].replace("%H", socket.gethostname())
    return command, clean | dict(each.split("=", 1) for each in given)


# --- what the server says


def by_schedule(place: Place, name: str) -> dict[str, Any] | None:
    """Return the first run of a deployment that its schedule started, once it is over."""
    found = prefect_api.ask(
        f"{place.api}/flow_runs/filter",
        {
            "deployments": {"name": {"any_": [name]}},
            "flow_runs": {"state": {"type": {"any_": ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]}}},
            "sort": "EXPECTED_START_TIME_ASC",
        },
    )
    return next((each for each in found if each["auto_scheduled"]), None)


def wait_for(what: Any, *, within: float) -> Any:
    """Return the first answer that is one, asked every two seconds; a server that is not there yet answers nothing."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            if answer := what():
                return answer
        except OSError:
            pass
        time.sleep(2)
    raise AssertionError("it did not happen in time")


def soon() -> str:
    """Return the schedule, UTC, of a time of day that comes in one to two minutes."""
    return f"{datetime.now(UTC) + timedelta(minutes=2):%-M %-H} * * *"


def fired(place: Place, name: str, schedules: Mapping[str, str]) -> dict[str, Any]:
    """Change the schedules by the documented command, and return the run that the scheduler then starts by itself."""
    place.terminals.type(place.said(BY_PREFECT, "chipledger deploy --schedule", schedules), within=LONG)
    run: dict[str, Any] = wait_for(lambda: by_schedule(place, name), within=LONG)
    place.terminals.note(
        f"{name}: expected {run['expected_start_time']}, began {run['start_time']}, ended {run['end_time']}, "
        f"by schedule: {run['auto_scheduled']}, {run['state_name']}: {run['state']['message']}"
    )
    return run


def rows(place: Place, query: str) -> list[tuple[Any, ...]]:
    """Return what the published file says."""
    with duckdb.connect(str(place.clone / "data/prices.duckdb"), read_only=True) as con:
        return con.execute(query).fetchall()


PRICE = f"""
select p.unit_price from core.sku_price as p inner join core.offer as o using (offer_id)
where o.instance_type = '{RAISED}' and o.region_id = 'us-east-1' and o.purchase_option = 'on_demand'
and o.conditions is null and p.source = 'aws_price_list' and p.valid_to is null
"""


def price(edition: Edition) -> Decimal:
    """Return what a shared Linux machine of the raised type costs in us-east-1 by an edition of AWS's list."""
    (product,) = [each for each in edition.products if each.sku == sku_of("us-east-1", RAISED, world.LINUX.words)]
    return next(Decimal(rate.amount) for term, rate in product.rates() if term.code == ON_DEMAND)


# --- what people see


@pytest.fixture
def page() -> Iterator[Page]:
    """Return a page of a browser that asks nobody but this machine."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--no-proxy-server", "--disable-background-networking"]
        )
        yield browser.new_page(viewport={"width": 1360, "height": 900})
        browser.close()


def shown(page: Page, place: Place, path: str, *texts: str, name: str) -> None:
    """Keep a screenshot of one of Prefect's pages once it shows some texts."""
    page.goto(f"http://127.0.0.1:{place.port}{path}", timeout=90_000)
    for text in texts:
        page.get_by_text(text).locator("visible=true").first.wait_for(timeout=60_000)
    page.wait_for_timeout(1500)  # what is drawn by and by
    page.screenshot(path=place.kept / f"{name}.png")


def looked_at(page: Page, place: Place, daily: Mapping[str, Any], weekly: Mapping[str, Any]) -> None:
    """Look at runs and artifacts as people do, and keep what is seen."""
    shown(page, place, "/runs", daily["name"], weekly["name"], name="runs")
    shown(page, place, "/deployments", "backfill", "weekly", name="deployments")
    for name, run in {"daily": daily, "weekly": weekly}.items():
        shown(page, place, f"/runs/flow-run/{run['id']}", run["name"], "Completed", name=f"run-{name}")
    shown(page, place, "/artifacts", "chipledger-daily", "chipledger-drift", "chipledger-report", name="artifacts")
    for key, text in {
        "daily": "fetches fresh",
        "drift": "all chips",
        "report": "index.html",
        "weekly": "sent: 2",
        "week": ".html",
        "backfill": "fetches fresh",
    }.items():
        wanted = {"artifacts": {"key": {"any_": [f"chipledger-{key}"]}}}
        (newest,) = prefect_api.ask(f"{place.api}/artifacts/latest/filter", wanted)
        shown(page, place, f"/artifacts/artifact/{newest['latest_id']}", text, name=f"artifact-{key}")


def letters(place: Place, mail: mail_server.Server) -> dict[str, EmailMessage]:
    """Return the mails that the server took, read again, by recipient, and keep them."""
    found: dict[str, EmailMessage] = {}
    for number, envelope in enumerate(mail.taken, start=1):
        content = envelope.content if isinstance(envelope.content, bytes) else str(envelope.content).encode()
        (place.kept / f"mail-{number}.eml").write_bytes(content)
        (to,) = envelope.rcpt_tos
        found[to] = email.message_from_bytes(content, policy=email.policy.default)
        place.terminals.note(f"mail from {envelope.mail_from} to {to}: {found[to]['Subject']}")
    return found


def test_a_year_can_begin_here(place: Place, page: Page) -> None:
    """By the document alone: the daily run fires by itself and finds what changed, the weekly one mails the week's
    news, and Prefect's pages show both."""
    told, now = place.terminals, datetime.now(UTC)
    told.type("git log -1 --oneline", within=A_MINUTE, more={"PATH": os.environ["PATH"]})
    with ExitStack() as around:
        assert POSTGRES is not None
        postgres = around.enter_context(own_postgres.running(POSTGRES, log=place.kept / "postgres.log"))
        cloud = around.enter_context(aws.StandIn())
        chosen = [case for case in cases() if case.source.name in NEOCLOUDS]
        sites = around.enter_context(open_sites(chosen))
        mail = around.enter_context(mail_server.serving(tls="starttls"))
        news = cloud.catalogues["aws"].current.changed(f"{last_wednesday(now):%Y%m%d%H%M%S}", on_list(CUT, 0.9))
        cloud.publish(news)

        told.type("make run", within=LONG)
        start = made_database(place, postgres)
        served = {"PREFECT_SERVER_API_PORT": str(place.port)}
        told.note(f"the server listens on {place.port} in place of 4200, by PREFECT_SERVER_API_PORT")
        in_terminal = Terminals(
            folder=place.clone, environment={**told.environment, **served}, record=told.record, first=told.first
        )
        around.enter_context(in_terminal.left_running(start, log=place.kept / "server.log"))
        wait_for(lambda: prefect_api.ask(f"{place.api}/health"), within=LONG)
        told.type(place.said(BY_PREFECT, "chipledger deploy"), within=LONG)

        (place.clone / "chipledger.toml").write_text(settings(place, cloud, sites, mail), encoding="utf-8")
        trusted = place.clone.parent / "trusted.pem"
        authorities = mail.context.get_ca_certs(binary_form=True)
        trusted.write_text("".join(ssl.DER_cert_to_PEM_cert(each) for each in authorities))
        command, alone = worker_of_the_unit(
            place, {**cloud.environment(), "CHIPLEDGER_MAIL_PASSWORD": "secret", "SSL_CERT_FILE": str(trusted)}
        )
        around.enter_context(told.left_running(command, log=place.kept / "worker.log", alone=alone))

        offline = told.type(place.said(BY_PREFECT, "prefect deployment run daily"), within=LONG)
        assert "Flow run finished successfully in 'Completed'" in offline
        told.type(place.said(BY_PREFECT, "prefect deployment run backfill") + " --watch", within=LONG)

        cloud.publish(news.changed(f"{now:%Y%m%d%H%M%S}", on_list(RAISED, 1.1)))
        daily = fired(place, "daily", {"40 4 * * *": soon()})
        assert daily["state_type"] == "COMPLETED", daily["state"]["message"]
        assert mail.taken == []
        weekly = fired(place, "weekly", {'"40 4 * * *"': "off", "weekly=off": f'weekly="{soon()}"'})
        assert weekly["state_type"] == "COMPLETED", weekly["state"]["message"]

        found = letters(place, mail)
        told.type(place.said(SEEN_IN_RUNS, "prefect artifact inspect"), within=A_MINUTE)
        restored = told.type("chipledger deploy && prefect deployment schedule ls daily/daily", within=LONG)
        looked_at(page, place, daily, weekly)
        raised = price(cloud.catalogues["aws"].current)

    assert "cron: 10 6 * * *" in restored
    for run in (daily, weekly):
        late = datetime.fromisoformat(run["start_time"]) - datetime.fromisoformat(run["expected_start_time"])
        assert abs(late.total_seconds()) < A_MINUTE, "it began at another time than its schedule's"
    assert rows(place, PRICE) == [(raised,)]
    assert {source for (source,) in rows(place, "select distinct source from core.price_event")} >= {
        *NEOCLOUDS, *AWS_SOURCES,
    }  # fmt: skip
    assert set(found) == {"someone@example.com", "someone.else@example.com"}
    for letter in found.values():
        body = letter.get_body(("plain",))
        assert "AWS cut H100 10 %" in str(letter["Subject"])
        assert body is not None
        assert "AWS cut H100 from 6.88 to 6.19 USD" in " ".join(body.get_content().split())
    for log in ("server.log", "worker.log"):
        assert "Traceback" not in (place.kept / log).read_text(encoding="utf-8"), f"{log} tells of an error"
