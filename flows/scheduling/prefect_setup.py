"""What Prefect needs of us: its deployments and work pool, the environment of a flow run by hand, retries of tasks.

Only flow files import Prefect, which reads its environment when it is imported; deployments are made by its own command
line, as a program of its own.
"""

import argparse
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flows.config import settings
from flows.shared import redact
from warehouse.errors import ChipledgerError, SettingsError, Unavailable

FILE_NAME = "prefect.yaml"
SCHEDULED = ("daily", "weekly", "maintain")
"""The deployments of prefect.yaml that have a schedule; flow and deployment have the same name."""
POOL = "chipledger"
OFF = "off"
CALL_TIMEOUT_S = 300
"""Of one call of Prefect, which takes some seconds to start."""
LAST_LINES = 12

Call = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


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


def deploy(folder: Path, chosen: Mapping[str, str], *, environ: Mapping[str, str], call: Call | None = None) -> bool:
    """Make the work pool where it is absent, then all deployments, with the chosen schedules; tell if the pool is new.

    Raises SettingsError where the folder is no checkout or no server is named, and ChipledgerError, with Prefect's
    output, where a call failed. Existing deployments are updated; the same command again is safe.
    """
    if not (folder / FILE_NAME).is_file():
        hint = "Start it in a checkout of chipledger"
        raise SettingsError("there is no such file here", source=str(folder / FILE_NAME), hint=hint)
    if not environ.get("PREFECT_API_URL"):
        hint = "Start one with `prefect server start`, then export PREFECT_API_URL=http://127.0.0.1:4200/api"
        raise SettingsError("no Prefect server is named", field="PREFECT_API_URL", hint=hint)
    text = rescheduled((folder / FILE_NAME).read_text(encoding="utf-8"), chosen)
    call = call or partial(_prefect, folder, environ)
    is_new = bool(call(("work-pool", "inspect", POOL)).returncode)
    if is_new:
        _must(call(("work-pool", "create", POOL, "--type", "process")), "the work pool was not made")
    with TemporaryDirectory() as folder_of_copy:
        file = Path(folder_of_copy) / FILE_NAME
        file.write_text(text, encoding="utf-8")
        done = call(("--no-prompt", "deploy", "--all", "--prefect-file", str(file)))
    _must(done, "the deployments were not made")
    return is_new


def rescheduled(text: str, chosen: Mapping[str, str]) -> str:
    """Return the text of prefect.yaml with other schedules. Raises SettingsError where it does not have them as ours.

    Prefect's own option would do for one deployment, but drops the schedule's slug, without which nothing is updated.
    """
    for name, cron in chosen.items():
        pattern = rf'(- slug: {name}\n +cron: )"([^"\n]*)"(\n +timezone: )\S+(\n +active: )(?:true|false)\n'
        found = [*re.finditer(pattern, text)]
        if len(found) != 1:
            hint = "Restore the file's own schedules, or change them there"
            raise SettingsError("no such schedule", source=FILE_NAME, field="slug", value=name, hint=hint)
        (m,) = found
        shown, active = (m[2], "false") if cron == OFF else (cron, "true")
        text = f'{text[: m.start()]}{m[1]}"{shown}"{m[3]}UTC{m[4]}{active}\n{text[m.end() :]}'
    return text


def _must(done: "subprocess.CompletedProcess[str]", failure: str) -> None:
    if done.returncode:
        lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        shown = lines[-1:] if "Traceback" in f"{done.stdout}{done.stderr}" else lines[-LAST_LINES:]
        up = "Is the server up? It answers at PREFECT_API_URL about 15 seconds after its start"
        hint = "Set PREFECT_API_AUTH_STRING to the password of the server" if "401 Unauthorized" in str(shown) else up
        raise ChipledgerError(redact.hide(f"{failure}: {' | '.join(shown)}"), source="prefect", hint=hint)


def _prefect(folder: Path, environ: Mapping[str, str], arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(  # noqa: S603 (our own interpreter and arguments)
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


OWN_PREFECT = {
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    # A temporary server takes 13 s to start on a good day; Prefect gives up after 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


def prepared(argv: Sequence[str], environ: MutableMapping[str, str]) -> argparse.Namespace:
    """Return a flow file's arguments, with Prefect's environment prepared; exit with 2 where a setting is wrong."""
    parser = argparse.ArgumentParser(description="Run the flow once, through Prefect, and print where its results are.")
    parser.add_argument("--offline", action="store_true", help="replay the dated archive: no network, no credentials")
    parser.add_argument("--data-dir", type=Path, help="where everything is kept [data]")
    parser.add_argument("--source", dest="sources", action="append", help="only this source; may repeat")
    parser.add_argument("--scope", dest="scopes", action="append", help="only this scope, such as a region; may repeat")
    arguments = parser.parse_args(argv)
    try:
        chosen = settings.read(data_dir=arguments.data_dir, environ=environ)
    except SettingsError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    prepare(chosen.data_dir, environ)
    # By itself Python ends at once, and Prefect's temporary server, which it stops at its exit, runs on.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    return arguments


def prepare(data_dir: Path, environ: MutableMapping[str, str]) -> None:
    """Give Prefect a home of its own under the data directory, and a temporary server unless one is named."""
    for name, value in OWN_PREFECT.items():
        environ.setdefault(name, value)
    if not environ.get("PREFECT_API_URL"):
        environ.pop("PREFECT_API_URL", None)
        # A profile of another home could name a server.
        environ.pop("PREFECT_PROFILE", None)
    if not environ.get("PREFECT_HOME"):
        environ["PREFECT_HOME"] = str((data_dir / "prefect").resolve())
    # Prefect makes its home, but not the folders above; without one its server fails only after the whole timeout.
    Path(environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)


MAX_PAUSE_S = 30.0
"""A source that asks for a longer pause than any of ours is asked again by the next run."""


def is_passing(_task: object, _task_run: object, state: Any) -> bool:
    """Return whether a task's failure may pass within our pauses: unavailable, and no longer pause wanted."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, Unavailable) and (error.retry_after or 0.0) <= MAX_PAUSE_S


RETRIES: dict[str, Any] = {
    "retries": 2,
    # Each attempt has its own short retries inside (extract.web.http); these are for a source that is down for minutes.
    "retry_delay_seconds": 60.0,
    "retry_jitter_factor": 0.5,
    "retry_condition_fn": is_passing,
}
"""What `prefect.task` takes."""
