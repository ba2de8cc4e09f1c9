"""`chipledger deploy` and what it deploys: prefect.yaml fits the flows, units and examples fit the commands."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from click.testing import CliRunner
from toy_source import Toy

from flows.cli.main import main
from flows.config.settings import Settings
from flows.scheduling import prefect_setup
from warehouse.errors import ChipledgerError, SettingsError

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "packaging/systemd").glob("*.service"))
EXAMPLES = sorted((ROOT / "docs/examples").glob("*.yml"))
SERVER = {"PREFECT_API_URL": "http://127.0.0.1:1/api"}


def deployments() -> dict[str, Any]:
    told = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    return {each["name"]: each for each in told["deployments"]}


@pytest.fixture
def entrypoints(prefect_home: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a loader of flows by entrypoint, as a deployment loads them."""
    from prefect.flows import load_flow_from_entrypoint

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return load_flow_from_entrypoint


# --- prefect.yaml


@pytest.mark.parametrize("name", sorted(deployments()))
def test_a_deployment_loads_and_its_parameters_fit(entrypoints: Any, name: str) -> None:
    """Its entrypoint is a flow of its name with a limit of time; its parameters are of the flow, with fitting values;
    one with a schedule needs no other; it is tagged, and runs once at a time."""
    told = deployments()[name]
    flow = entrypoints(told["entrypoint"])
    given = dict(told["parameters"])
    needed = set(flow.parameters.required or ())
    if name == "backfill":
        given |= {"source": "aws_price_list", "scopes": ["us-east-1"], "since": "2023-01-01"}

    assert (flow.name, flow.timeout_seconds > 0) == (name, True)
    assert set(given) <= set(flow.parameters.properties)
    assert needed <= set(given)
    assert set(flow.validate_parameters(given)) >= set(given)
    assert {"chipledger", name} <= set(told["tags"])
    assert told.get("concurrency_limit", {}).get("limit") == 1
    assert told["work_pool"]["name"] == prefect_setup.POOL
    # A run cannot wait longer for another than it may take.
    assert given.get("wait_seconds", 0) < flow.timeout_seconds


def test_the_schedules_are_those_that_can_be_chosen() -> None:
    """The deployments with a schedule are the ones that --schedule knows."""
    assert tuple(name for name, told in deployments().items() if told["schedules"]) == prefect_setup.SCHEDULED


def test_a_fetch_that_takes_for_ever_is_given_up(
    daily_file: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A task of the daily run has a limit of time; what reaches it is a failure of that scope alone."""
    landed: list[Any] = []

    class Late:
        def result(self) -> object:
            raise TimeoutError("Scope timed out")

    pool = MagicMock()
    pool.__enter__.return_value.submit.return_value = Late()
    chosen = Settings(data_dir=tmp_path)
    collector = SimpleNamespace(fetch_named=lambda source, scope: ())
    run = SimpleNamespace(settings=chosen, land=landed.append, collector=collector)
    monkeypatch.setattr(daily_file, "ThreadPoolTaskRunner", lambda **arguments: pool)
    monkeypatch.setattr(daily_file, "as_completed", list)

    daily_file.fetch_all(run, [(Toy(tmp_path).source(), "a")])

    assert daily_file.fetch_task(collector.fetch_named).timeout_seconds == daily_file.FETCH_TIMEOUT_S
    assert (landed[0].source, landed[0].scope) == ("toy", "a")
    assert "no whole answer within 7200 seconds" in str(landed[0].error)


# --- schedules


def test_another_schedule_replaces_that_one_alone() -> None:
    """The chosen expression stands in place of the file's, `off` makes it inactive, and nothing else changes."""
    text = (ROOT / "prefect.yaml").read_text(encoding="utf-8")
    chosen = prefect_setup.schedules(["daily = */5 * * * *", "weekly=off"])
    before, after = yaml.safe_load(text), yaml.safe_load(prefect_setup.rescheduled(text, chosen))
    daily, weekly, *_ = before["deployments"]
    daily["schedules"][0]["cron"] = "*/5 * * * *"
    weekly["schedules"][0]["active"] = False

    assert after == before
    assert prefect_setup.rescheduled(text, {}) == text


@pytest.mark.parametrize(
    "texts",
    [["backfill=* * * * *"], ["daily"], ["daily=6:10"], ["daily=* * * * * *"], ['daily=" * * * *'],
     ["daily=1 1 * * *", "daily=off"], ["daily=\n* * * *"]],
)  # fmt: skip
def test_a_wrong_schedule_is_refused(texts: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        prefect_setup.schedules(texts)

    assert caught.value.field == "schedule"


def test_a_changed_file_is_not_guessed_at() -> None:
    """Where the schedule does not stand as ours does, nothing is deployed."""
    with pytest.raises(SettingsError, match="no such schedule"):
        prefect_setup.rescheduled("deployments: []\n", {"daily": "1 1 * * *"})


# --- calling Prefect


class Prefect:
    """Prefect's command line: its calls, and which of them fail."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.calls: list[str] = []
        self.files: list[str] = []

    def __call__(self, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        if "--prefect-file" in arguments:
            self.files.append(Path(arguments[-1]).read_text(encoding="utf-8"))
            arguments = arguments[:-1]
        self.calls.append(" ".join(arguments))
        code = int(any(word in self.calls[-1] for word in self.failing))
        return subprocess.CompletedProcess([], code, "", "Traceback\n  File\nE: cannot connect" if code else "")


def test_the_pool_is_made_where_it_is_absent() -> None:
    """Asked for first, made only if it is not there, then everything is deployed from the file as chosen."""
    new, old = Prefect("inspect"), Prefect()

    assert prefect_setup.deploy(ROOT, {}, environ=SERVER, call=new)
    assert not prefect_setup.deploy(ROOT, {"daily": "1 2 * * *"}, environ=SERVER, call=old)
    assert new.calls == [
        "work-pool inspect chipledger", "work-pool create chipledger --type process",
        "--no-prompt deploy --all --prefect-file",
    ]  # fmt: skip
    assert old.calls == [new.calls[0], *new.calls[2:]]
    assert '"1 2 * * *"' in old.files[0]
    assert '"1 2 * * *"' not in new.files[0]


def test_what_prefect_said_is_passed_on() -> None:
    """A server that is down shows at the first call that has to work: what Prefect said, without the way there."""
    with pytest.raises(ChipledgerError, match=r"work pool was not made: E: cannot connect.*Is the server up"):
        prefect_setup.deploy(ROOT, {}, environ=SERVER, call=Prefect("work-pool"))
    denied = MagicMock(return_value=subprocess.CompletedProcess([], 1, "", "Client error '401 Unauthorized' for url"))
    with pytest.raises(ChipledgerError, match=r"401 Unauthorized.*Set PREFECT_API_AUTH_STRING"):
        prefect_setup.deploy(ROOT, {}, environ=SERVER, call=denied)


def test_without_server_or_checkout_nothing_is_called(tmp_path: Path) -> None:
    for folder, environ in ((ROOT, {}), (tmp_path, SERVER)):
        with pytest.raises(SettingsError):
            prefect_setup.deploy(folder, {}, environ=environ, call=None)


def test_the_command_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    done = CliRunner().invoke(main, ["deploy"])

    assert done.exit_code == 2
    assert "PREFECT_API_URL=http://127.0.0.1:4200/api" in done.stderr


# --- units, examples, image


def test_units_are_what_systemd_takes(tmp_path: Path) -> None:
    """Their programs are those of the checkout, pool and port those of the documents; systemd has nothing to say."""
    texts = {unit.name: unit.read_text(encoding="utf-8") for unit in UNITS}
    program = tmp_path / ".venv/bin/prefect"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name, text in texts.items():
        (tmp_path / name).write_text(text.replace("/srv/chipledger", str(tmp_path)))

    assert "server start --host 127.0.0.1 --port 4200\n" in texts["chipledger-server.service"]
    assert f"worker start --pool {prefect_setup.POOL} " in texts["chipledger-worker.service"]
    # Prefect copies its page at the start of the server, by default beside its code, where the unit may not write.
    assert (
        "\nEnvironment=PREFECT_SERVER_UI_STATIC_DIRECTORY=/var/lib/chipledger/server/"
        in texts["chipledger-server.service"]
    )
    if systemd := shutil.which("systemd-analyze"):
        done = subprocess.run(
            [systemd, "verify", *(str(tmp_path / name) for name in texts)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, [line for line in done.stderr.splitlines() if "chipledger" in line]) == (0, [])


def test_environment_files_hold_no_secret() -> None:
    """Lines for secrets are commented out and empty, or say PASSWORD."""
    lines = [line for file in UNITS[0].parent.glob("*.env") for line in file.read_text().splitlines()]
    secret = [line for line in lines if re.match(r"#?[A-Z_]*(PASSWORD|AUTH|CONNECTION|URLS)", line.partition("=")[0])]

    assert len(secret) >= 4
    assert all(line.startswith("#") and ("PASSWORD" in line or line.endswith("=")) for line in secret)


def test_examples_call_what_is_there() -> None:
    """Actions are pinned by hash and those of our own workflows; nobody has more rights than named; each command of
    ours exists; the history is restored before the run and kept after it, also where it ends with 1 for a page."""
    pinned = set(
        re.findall(r"uses: (\S+@[0-9a-f]{40}) #", "".join(map(Path.read_text, (ROOT / ".github").rglob("*.yml"))))
    )
    for example in EXAMPLES:
        text = example.read_text(encoding="utf-8")
        told = yaml.safe_load(text)
        called = re.findall(r"\.venv/bin/chipledger ((?:data )?[a-z]+)", text)

        assert told["permissions"] == {}
        assert set(re.findall(r"uses: (\S+)", text)) <= pinned
        assert set(called) <= {*main.commands, *(f"data {name}" for name in main.commands["data"].commands)}
        assert [called.index(name) for name in ("data restore", "run", "mail", "data backup")] == [0, 1, 2, 3]
        (job,) = told["jobs"].values()
        assert job["steps"][-1]["if"] == "${{ !cancelled() && steps.run.outcome != 'skipped' }}"
    assert len(EXAMPLES) == 2


def test_no_upload_deletes_the_only_history() -> None:
    """`gh release upload --clobber` deletes first: only for what is made again, as an upload that fails loses it.
    And what was fetched is kept where a later step fails."""
    texts = [path.read_text() for path in (*(ROOT / ".github/workflows").glob("*.yml"), *EXAMPLES)]
    clobbered = re.findall(r"gh release upload \S+ (\S+) --clobber", "".join(texts))
    assert clobbered == ["data/prices.duckdb"]
    steps = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["make"]["steps"]
    kept = next(step for step in steps if step.get("name", "").startswith("Keep the history"))
    assert kept.get("if") == "${{ !cancelled() && steps.collect.outcome != 'skipped' }}"


def test_make_run_makes_folders_for_their_owner_alone(tmp_path: Path) -> None:
    """As every command does: Make makes Prefect's home, and the data directory with it."""
    environment = {"PATH": os.environ["PATH"], "CHIPLEDGER_DATA_DIR": str(tmp_path / "data")}
    shown = subprocess.run(["make", "-n", "run"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    (line,) = (line for line in shown.stdout.splitlines() if "mkdir -p" in line and "PREFECT_HOME" in line)
    subprocess.run(["bash", "-c", f"umask 022; {line}"], env={"PREFECT_HOME": f"{tmp_path}/data/prefect"}, check=True)
    assert [oct(folder.stat().st_mode) for folder in (tmp_path / "data", tmp_path / "data/prefect")] == ["0o40700"] * 2


def test_the_image_has_what_the_flows_need() -> None:
    """Every package of ours and prefect.yaml are copied and not ignored; it does not run as root; the services of
    compose.yaml call what is there."""
    docker, ignored = (ROOT / "Dockerfile").read_text(), (ROOT / ".dockerignore").read_text().splitlines()
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]

    for name in ("extract", "flows", "reports", "transform", "warehouse", "prefect.yaml", "pyproject.toml", "uv.lock"):
        assert re.search(rf"^COPY .*\b{re.escape(name)}\b", docker, flags=re.MULTILINE)
        assert f"!{name}" in ignored
    assert "\nUSER 10001\n" in docker
    assert re.findall(r"uv==(\S+)", docker) == re.findall(r"UV_VERSION := (\S+)", (ROOT / "Makefile").read_text())
    keys = re.findall(r"^\| `([A-Z_]+)` \| `[a-z_]+` \|", (ROOT / "docs/settings.md").read_text(), flags=re.MULTILINE)
    assert len(keys) == 5
    assert {*keys} <= services["worker"]["environment"].keys()
    forgets = "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED=events,flow_runs"
    assert forgets in (UNITS[0].parent / "server.env").read_text().splitlines()
    assert forgets.endswith("=" + services["server"]["environment"][forgets.partition("=")[0]])
    # A user's crontab may not write to /var/log, and a line whose log cannot be opened runs nothing.
    assert not re.search(r">> */", (ROOT / "docs/scheduling.md").read_text())
    page = services["server"]["environment"]["PREFECT_SERVER_UI_STATIC_DIRECTORY"]
    assert page.startswith(services["server"]["environment"]["PREFECT_HOME"] + "/")
    assert services["deploy"]["command"] == ["chipledger", "deploy"]
    assert services["worker"]["command"] == ["prefect", "worker", "start", "--pool", prefect_setup.POOL]
    assert all(str(port).startswith("127.0.0.1:") for one in services.values() for port in one.get("ports", []))
