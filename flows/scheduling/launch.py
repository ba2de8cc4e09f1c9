"""Running a flow file by hand, `python flows/daily.py`: its arguments, and Prefect's environment.

Prefect reads its environment when it is imported, so this module imports nothing of it and is called before.
"""

import argparse
import sys
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from flows.config import settings
from warehouse.errors import SettingsError

OWN_PREFECT = {
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    # A temporary server takes 13 s to start on a good day; Prefect gives up after 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


def prepared(argv: Sequence[str], environ: MutableMapping[str, str]) -> argparse.Namespace:
    """Return a flow file's arguments, with Prefect's environment prepared; exit with 2 where a setting is wrong."""
    arguments = _parser().parse_args(argv)
    try:
        chosen = settings.read(data_dir=arguments.data_dir, environ=environ)
    except SettingsError as error:
        sys.exit(_say(f"error: {error}", code=2))
    prepare(chosen.data_dir, environ)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run the flow once, through Prefect, and print where its results are.")
    parser.add_argument("--offline", action="store_true", help="replay the dated archive: no network, no credentials")
    parser.add_argument("--data-dir", type=Path, help="where everything is kept [data]")
    parser.add_argument("--source", dest="sources", action="append", help="only this source; may repeat")
    parser.add_argument("--scope", dest="scopes", action="append", help="only this scope, such as a region; may repeat")
    return parser


def _say(text: str, *, code: int) -> int:
    sys.stderr.write(f"{text}\n")
    return code
