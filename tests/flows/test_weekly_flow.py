"""The weekly flow without a server: the page, the mail once, a failure that shows; and its deployment."""

import shutil
import sys
from itertools import dropwhile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from weekly_file import read_once, weeks

from flows.mail.sending import Outcome
from warehouse.errors import ChipledgerError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def weekly_file(prefect_home: None, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return flows/weekly.py as Prefect loads it: by path."""
    from prefect.flows import load_flow_from_entrypoint

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return sys.modules[load_flow_from_entrypoint("flows/weekly.py:weekly").__module__]


def test_the_flow_writes_the_page_and_says_what_was_sent(
    weekly_file: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Without [mail] the page alone; with it what became of the mail; a failure fails the run, addresses unnamed."""
    from prefect.logging import disable_run_logger

    shutil.copytree(weeks(tmp_path_factory).parent, tmp_path, dirs_exist_ok=True)
    settings = tmp_path / "chipledger.toml"
    settings.write_text("")
    monkeypatch.setenv("CHIPLEDGER_SETTINGS", str(settings))
    artifacts: list[str] = []
    links: list[str] = []
    monkeypatch.setattr(weekly_file, "create_markdown_artifact", lambda **told: artifacts.append(told["markdown"]))
    monkeypatch.setattr(weekly_file, "create_link_artifact", lambda **told: links.append(told["link"]))

    def run() -> Any:
        with disable_run_logger(), read_once(tmp_path_factory):
            return weekly_file.weekly.fn(week="2026-W03", data_dir=str(tmp_path))

    assert run().message == "2026-W03: 0 sent"
    assert (tmp_path / "reports/weeks/2026-W03.html").is_file()
    assert "no [mail] in the settings" in artifacts[-1]
    assert links == [(tmp_path / "reports/weeks/2026-W03.html").as_uri()]

    settings.write_text('[mail]\nfrom = "p@example.com"\n[alerts]\nto = ["a@example.com"]\n')
    assert run().message == "2026-W03: 0 sent"  # [mail] is for alerts alone

    settings.write_text('[mail]\nfrom = "p@example.com"\n')
    outcome = Outcome(week="2026-W03", sent=["a@example.com"], failed={"b@example.com": "no"})
    monkeypatch.setattr(weekly_file.weekly_steps, "mailed", lambda *args, **others: outcome)
    with pytest.raises(ChipledgerError, match="1 of the week's mails"):
        run()

    assert "sent: 1, had it already: 0, failed: 1" in artifacts[-1]
    assert "example.com" not in artifacts[-1]


def test_the_deployment_names_the_flow_and_runs_after_the_daily_one(weekly_file: ModuleType) -> None:
    told = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    daily, weekly = ({each["name"]: each for each in told["deployments"]}[name] for name in ("daily", "weekly"))

    assert weekly["entrypoint"] == "flows/weekly.py:weekly"
    assert set(weekly["parameters"]) <= set(weekly_file.weekly.parameters.properties)
    assert weekly["work_pool"] == daily["work_pool"]
    assert (daily["schedules"][0]["cron"], weekly["schedules"][0]["cron"]) == ("10 6 * * *", "10 8 * * *")


@pytest.mark.parametrize("path", sorted((ROOT / "docs/examples").glob("prices-*.yml")), ids=lambda path: path.stem)
def test_a_run_that_failed_keeps_no_mail_back(path: Path) -> None:
    """In a workflow each step after the run is made all the same: else nobody learns that nothing is read."""
    (job,) = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    after = list(dropwhile(lambda step: step.get("id") != "run", job["steps"]))[1:]

    assert {step.get("if") for step in after} == {"${{ !cancelled() && steps.run.outcome != 'skipped' }}"}
