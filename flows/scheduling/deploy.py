"""Make the deployments of a checkout on a Prefect server, through Prefect's own command line.

Only flow files import Prefect: here it runs as a program of its own, which reads its environment itself.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from flows.shared import redact
from warehouse.errors import ChipledgerError, SettingsError

FILE_NAME = "prefect.yaml"
SCHEDULED = ("daily", "weekly", "maintain")
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
        if cron != OFF and not re.fullmatch(r"[\w*,/-]+( [\w*,/-]+){4}", cron, flags=re.ASCII):
            hint = "Five fields, UTC: minute hour day month weekday, such as 10 6 * * *"
            raise SettingsError("no cron expression", field="schedule", value=text, hint=hint)
        found[name] = cron
    return found


def deploy(
    folder: Path, chosen: Mapping[str, str], *, environ: Mapping[str, str], call: Call | None = None
) -> Deployed:
    """Make the work pool where it is absent, then all deployments, with the chosen schedules.

    Raises SettingsError where the folder is no checkout or no server is named, and ChipledgerError, with Prefect's
    output, where a call failed. Existing deployments are updated; the same command again is safe.
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
    rescheduled((folder / FILE_NAME).read_text(encoding="utf-8"), chosen)
    call = call or _caller(folder, environ)
    is_new = bool(call(("work-pool", "inspect", POOL)).returncode)
    if is_new:
        _must(call(("work-pool", "create", POOL, "--type", "process")), "the work pool was not made")
    with TemporaryDirectory() as folder_of_copy:
        file = Path(folder_of_copy) / FILE_NAME
        file.write_text(rescheduled((folder / FILE_NAME).read_text(encoding="utf-8"), chosen), encoding="utf-8")
        done = call(("--no-prompt", "deploy", "--all", "--prefect-file", str(file)))
    _must(done, "the deployments were not made")
    return Deployed(pool=POOL, is_new_pool=is_new, schedules=dict(chosen))


def rescheduled(text: str, chosen: Mapping[str, str]) -> str:
    """Return the text of prefect.yaml with other schedules. Raises SettingsError where it does not have them as ours.

    Prefect's own option would do for one deployment, but drops the schedule's slug, without which nothing is updated.
    """
    for name, cron in chosen.items():
        schedule = re.compile(
            rf'(- slug: {name}\n +cron: )"([^"\n]*)"(\n +timezone: )\S+(\n +active: )(?:true|false)\n'
        )
        found = schedule.findall(text)
        if len(found) != 1:
            hint = "Restore the file's own schedules, or change them there"
            raise SettingsError("no such schedule", source=FILE_NAME, field="slug", value=name, hint=hint)
        ((_, usual, _, _),) = found
        new = f'"{usual}"' if cron == OFF else f'"{cron}"'
        active = "false" if cron == OFF else "true"
        text = schedule.sub(lambda m, new=new, active=active: f"{m[1]}{new}{m[3]}UTC{m[4]}{active}\n", text)  # type: ignore[misc]
    return text


def _must(done: "subprocess.CompletedProcess[str]", failure: str) -> None:
    if done.returncode:
        lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        raise ChipledgerError(
            redact.hide(f"{failure}: {' | '.join(lines[-LAST_LINES:])}"),
            source="prefect",
            hint="Is the server up? It answers at PREFECT_API_URL about 15 seconds after its start",
        )


def _caller(folder: Path, environ: Mapping[str, str]) -> Call:
    def call(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        try:
            return subprocess.run(  # noqa: S603 (our own interpreter, and words of ours)
                [sys.executable, "-m", "prefect", *arguments],
                cwd=folder,
                env=dict(environ),
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=CALL_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired as error:
            raise ChipledgerError("Prefect did not answer in time", source="prefect", hint=str(error)) from error

    return call
