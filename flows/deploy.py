"""Making the deployments of a checkout on a Prefect server, through Prefect's own command line.

Its modules are for the flow files alone: here it runs as a program beside, which reads its environment for itself.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import ChipledgerError, SettingsError

FILE_NAME = "prefect.yaml"
SCHEDULED = ("daily", "weekly")
"""The deployments of prefect.yaml that have a schedule; flow and deployment have the same name."""
POOL = "chipledger"
OFF = "off"
CALL_TIMEOUT_S = 300
"""Of one call of Prefect, which takes some seconds to start."""
LAST_LINES = 12

Call = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """What was made: whether the pool is new, and the schedules that differ from those of prefect.yaml."""

    pool: str
    is_new_pool: bool
    schedules: Mapping[str, str]


def schedules(texts: Sequence[str]) -> dict[str, str]:
    """Return schedules written as NAME=CRON, or NAME=off, by name. Raises SettingsError."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, cron = (part.strip() for part in text.partition("="))
        if name not in SCHEDULED or not sign:
            hint = f"Write NAME=CRON or NAME={OFF} with one of: {', '.join(SCHEDULED)}"
            raise SettingsError("no deployment with a schedule", field="schedule", value=text, hint=hint)
        if name in found:
            raise SettingsError("named twice", field="schedule", value=text)
        if cron != OFF and len(cron.split()) != 5:
            hint = "Five fields, UTC: minute hour day month weekday, such as 10 6 * * *"
            raise SettingsError("no cron expression", field="schedule", value=text, hint=hint)
        found[name] = cron
    return found


def deploy(
    folder: Path, chosen: Mapping[str, str], *, environ: Mapping[str, str], call: Call | None = None
) -> Deployed:
    """Make the work pool where it is absent, then all deployments, then the schedules that were chosen.

    Raises SettingsError where the folder is no checkout or no server is named, and ChipledgerError, with what Prefect
    said, where a call failed. What was made before stays; the same command again is safe.
    """
    if not (folder / FILE_NAME).is_file():
        raise SettingsError(
            "there is no such file here", source=str(folder / FILE_NAME), hint="Start it in a checkout of chipledger"
        )
    if not environ.get("PREFECT_API_URL"):
        raise SettingsError(
            "no Prefect server is named",
            field="PREFECT_API_URL",
            hint="Start one with `prefect server start`, then export PREFECT_API_URL=http://127.0.0.1:4200/api",
        )
    call = call or _caller(folder, environ)
    is_new = bool(call(("work-pool", "inspect", POOL)).returncode)
    if is_new:
        _must(call(("work-pool", "create", POOL, "--type", "process")), "the work pool was not made")
    _must(call(("--no-prompt", "deploy", "--all")), "the deployments were not made")
    for name, cron in chosen.items():
        if cron == OFF:
            done = call(("deployment", "schedule", "clear", f"{name}/{name}", "--accept-yes"))
        else:
            done = call(("--no-prompt", "deploy", "--name", name, "--cron", cron, "--timezone", "UTC"))
        _must(done, f"the schedule of {name} was not set")
    return Deployed(pool=POOL, is_new_pool=is_new, schedules=dict(chosen))


def _must(done: "subprocess.CompletedProcess[str]", failure: str) -> None:
    if done.returncode:
        said = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        raise ChipledgerError(
            f"{failure}: {' | '.join(said[-LAST_LINES:])}",
            source="prefect",
            hint="Is the server up? It answers at PREFECT_API_URL about 15 seconds after its start",
        )


def _caller(folder: Path, environ: Mapping[str, str]) -> Call:
    def call(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(  # noqa: S603 (our own interpreter, and words of ours)
                [sys.executable, "-m", "prefect", *arguments],
                cwd=folder, env=dict(environ), capture_output=True, text=True, check=False,
                stdin=subprocess.DEVNULL, timeout=CALL_TIMEOUT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise ChipledgerError("Prefect did not answer in time", source="prefect", hint=str(error)) from error

    return call
