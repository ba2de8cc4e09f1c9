"""A PostgreSQL of a test's own: a new cluster on a free port, which belongs to no root and dies with the test."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

UP_WITHIN_S = 60
UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """A running cluster: its port on 127.0.0.1, and what lets its client programs find it as its superuser."""

    port: int
    environment: dict[str, str]
    version: str


def programs() -> Path | None:
    """Return the folder of PostgreSQL's newest server programs; None where there are none."""
    packaged = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    found = sorted(packaged, key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def running(folder: Path, *, log: Path) -> Iterator[Postgres]:
    """Make a cluster with the programs of a folder, and run it; over TCP it asks for passwords, as packaged ones do."""
    # A short path, as that of a socket may have 107 characters, under no folder that only we may enter.
    with TemporaryDirectory(prefix="postgres-") as own, log.open("wb") as told:
        user = next((name for name in UNPRIVILEGED if _exists(name)), None) if os.geteuid() == 0 else None
        if user:
            shutil.chown(own, user)
        data, port = Path(own) / "data", free_port()
        subprocess.run(
            [
                folder / "initdb", "--pgdata", data, "--username=postgres", "--auth-local=trust",
                "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
            ],
            check=True, stdout=told, stderr=told, user=user, cwd=own,
        )  # fmt: skip
        server = subprocess.Popen(
            [folder / "postgres", "-D", data, "-p", str(port), "-k", own, "-c", "listen_addresses=127.0.0.1"],
            stdout=told, stderr=told, user=user, cwd=own, start_new_session=True,
        )  # fmt: skip
        try:
            found = {"PGHOST": own, "PGPORT": str(port), "PGUSER": "postgres", "PATH": f"{folder}:{os.environ['PATH']}"}
            yield Postgres(port=port, environment=found, version=_version(folder, found))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _version(folder: Path, found: dict[str, str]) -> str:
    end = time.monotonic() + UP_WITHIN_S
    while True:
        done = subprocess.run(
            [folder / "psql", "-Atc", "select version()"],
            env={**os.environ, **found}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode == 0:
            return done.stdout.strip()
        assert time.monotonic() < end, done.stderr
        time.sleep(0.5)
