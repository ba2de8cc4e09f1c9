"""Versions of a table out of a git repository, oldest first, by git itself: the program, never a shell.

The clone has all commits and folders and no files (https://git-scm.com/docs/partial-clone); the bytes of a version are
fetched when they are read. Only the protocol of the repository's own address is let through, redirects are not followed
and nobody is asked for a password. git holds much of an answer in memory and waits for ever: each command has a time,
after which all programs that it started are ended, and each of these has limits of memory and of the size of a file.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

from extract.base import Context
from extract.catalogues.skypilot_catalog.catalog import NAME
from warehouse.errors import SettingsError, SourceError, Unavailable

URL = "https://github.com/skypilot-org/skypilot-catalog"
CACHE = "CHIPLEDGER_CACHE_DIR"
"""Environment variable with the folder where the clone stays."""
FOLDER = "skypilot-catalog.git"
BRANCH = "refs/remotes/origin/HEAD"
CLONE_S, READ_S = 3600, 300
"""Seconds that a clone and any other command of git may take."""
SILENT_S = 120
"""Seconds after which a server that sends nothing is given up."""
CLONE_BYTES, READ_BYTES = 8 << 30, 64 << 20
"""Size of the largest file that these may write; what a command prints is one."""
MEMORY_BYTES = 2 << 30
"""For each program of git: dozens of times what a clone takes."""
LAST_BYTES = 4096
"""Of what git complains of, in whose last line it says why it gave up."""
BOUNDED = """
import os, resource, sys
for kind, most in ((resource.RLIMIT_DATA, sys.argv[1]), (resource.RLIMIT_FSIZE, sys.argv[2])):
    try:
        resource.setrlimit(kind, (int(most), int(most)))
    except (OSError, ValueError):  # a system without it, or with a lower limit
        pass
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Becomes git, within limits of memory and file size: set before it starts, and not in a copy of this process."""
OF_A_REPOSITORY = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
"""Variables that lead git to another repository; a hook has them."""

_COMMIT = re.compile(r"\x01([0-9a-f]{40,64}) (\d+)")
_CHANGE = re.compile(r":\d{6} \d{6} [0-9a-f]+ ([0-9a-f]+) ([A-Z])\d*\t(catalogs/v(\d+)/[a-z]+/vms\.csv)")
_kept: dict[str, tempfile.TemporaryDirectory[str]] = {}
_lock = Lock()


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a table: the commit that made it, its moment (UTC), its path, and git's name of its bytes."""

    commit: str
    at: datetime
    path: str
    blob: str

    @property
    def key(self) -> str:
        """Return what git calls this version of this path."""
        return f"{self.commit}:{self.path}"


@dataclass(frozen=True, kw_only=True)
class History:
    """A clone of the repository at `url`."""

    url: str
    clone: Path

    @classmethod
    def of(cls, ctx: Context) -> "History":
        """Return a clone that is up to date; raise SettingsError, SourceError (no git) or Unavailable."""
        url = ctx.settings.get("url") or URL
        parts = urlsplit(url) if isinstance(url, str) else None
        if parts is None or parts.scheme not in ("https", "file") or "@" in parts.netloc:
            hint = "An address that begins with https:// or file:///, without a name or password"
            raise SettingsError("git is not let near this address", source=NAME, field="url", value=url, hint=hint)
        address = str(url).rstrip("/")
        with _lock:
            clone = _folder(address) / FOLDER
            if (clone / "HEAD").exists() or (clone / ".git").exists():
                _same_origin(clone, address)
                ctx.progress(f"{NAME}: fetching new commits from {address}")
                _git("fetch", "--quiet", "--no-tags", "origin", at=clone, url=address, is_clone=True)
            else:
                ctx.progress(f"{NAME}: cloning {address} without its files, which takes some minutes")
                _clone(clone, address)
                ctx.progress(f"{NAME}: cloned")
        return cls(url=address, clone=clone)

    def versions(self, scope: str) -> list[Version]:
        """Return the versions of a provider's table, oldest first; raise SourceError where there never was one."""
        output = self._git(
            "log",
            "--first-parent",
            "--diff-merges=first-parent",
            "--no-renames",
            "--raw",
            "--no-abbrev",
            "--format=%x01%H %ct",
            BRANCH,
            "--",
            f":(glob)catalogs/v*/{scope}/vms.csv",
        ).decode("utf-8", "replace")
        found: list[tuple[datetime, int, int, Version]] = []
        commit, moment = "", datetime.min.replace(tzinfo=UTC)
        for place, line in enumerate(output.splitlines()):
            if head := _COMMIT.fullmatch(line):
                commit, moment = head[1], datetime.fromtimestamp(int(head[2]), UTC)
            elif (change := _CHANGE.fullmatch(line)) and change[2] != "D":
                version = Version(commit=commit, at=moment, path=change[3], blob=change[1])
                # git tells the newest commit first.
                found.append((moment, -place, int(change[4]), version))
        if not found:
            hint = f"See catalogs/ of {self.url}"
            raise SourceError("the repository has no such table", source=NAME, field="scope", value=scope, hint=hint)
        return _newest_format(found)

    def read(self, version: Version) -> bytes:
        """Return the bytes of a version, fetched where the clone has none; raise Unavailable."""
        return self._git("cat-file", "blob", version.blob)

    def _git(self, *words: str) -> bytes:
        return _git(*words, at=self.clone, url=self.url)


def _newest_format(found: list[tuple[datetime, int, int, Version]]) -> list[Version]:
    """Return the versions by time, one for each moment, and none of a format once there is a newer one."""
    versions: dict[datetime, Version] = {}
    newest = 0
    for moment, _, number, version in sorted(found, key=lambda item: item[:3]):
        if number >= newest:
            newest = number
            versions[moment] = version
    return list(versions.values())


def _folder(address: str) -> Path:
    """Return the folder that clones stay in, or one that lasts as long as this process."""
    if named := os.environ.get(CACHE):
        folder = Path(named).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    if address not in _kept:
        _kept[address] = tempfile.TemporaryDirectory(prefix="chipledger-")
    return Path(_kept[address].name)


def _clone(clone: Path, address: str) -> None:
    """Make the clone beside its place and move it there whole, so that one that broke off is never taken for one."""
    with tempfile.TemporaryDirectory(dir=clone.parent, prefix="clone-") as folder:
        made = Path(folder) / FOLDER
        _git(
            "clone",
            "--quiet",
            "--filter=blob:none",
            "--no-checkout",
            "--sparse",
            "--single-branch",
            "--no-tags",
            "--",
            address,
            str(made),
            at=clone.parent,
            url=address,
            is_clone=True,
        )
        made.rename(clone)


def _same_origin(clone: Path, address: str) -> None:
    origin = _git("config", "--get", "remote.origin.url", at=clone, url=address).decode("utf-8", "replace").strip()
    if origin != address:
        hint = f"Remove {clone}, or let {CACHE} name another folder"
        raise SettingsError("a clone of another repository", source=NAME, field="url", value=origin, hint=hint)


def _git(*words: str, at: Path, url: str, is_clone: bool = False) -> bytes:
    """Return what a command of git prints; raise Unavailable where it fails, SourceError for no git or too much."""
    program = shutil.which("git")
    if program is None:
        hint = "Install git (https://git-scm.com/downloads); only this source needs it"
        raise SourceError("git is not installed", source=NAME, field="git", value="not on PATH", hint=hint)
    environment = {name: value for name, value in os.environ.items() if name not in OF_A_REPOSITORY}
    environment |= {
        "GIT_ALLOW_PROTOCOL": urlsplit(url).scheme,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "LC_ALL": "C",
    }
    settings = (
        "core.hooksPath=/dev/null",
        "gc.auto=0",
        "maintenance.auto=false",
        "credential.helper=",
        "http.followRedirects=false",
        "http.lowSpeedLimit=1",
        f"http.lowSpeedTime={SILENT_S}",
    )
    options = [word for setting in settings for word in ("-c", setting)]
    seconds, most = (CLONE_S, CLONE_BYTES) if is_clone else (READ_S, READ_BYTES)
    bounded = (sys.executable, "-I", "-S", "-c", BOUNDED, str(MEMORY_BYTES), str(most))
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        git = subprocess.Popen(  # noqa: S603 - a list of words, no shell; the address is checked and stands after --
            [*bounded, program, *options, *words],
            cwd=at,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            status = git.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise Unavailable(
                f"git took more than {seconds} s", source=NAME, field="git", value=words[0], hint="Try again later"
            ) from error
        finally:
            # With it the programs that it started, which would go on to fetch.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(git.pid, signal.SIGKILL)
            git.wait()
        if output.seek(0, os.SEEK_END) >= most:
            hint = "It is another repository than expected, or a table that swells"
            message = f"git {words[0]} tells more than {most} bytes"
            raise SourceError(message, source=NAME, field="size", value=most, hint=hint)
        if status:
            complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = complaints.read().decode("utf-8", "replace").strip().splitlines() or [f"exit status {status}"]
            raise Unavailable(
                f"git {words[0]} failed: {lines[-1]}", source=NAME, field="git", value=url, hint="Try again later"
            )
        output.seek(0)
        return output.read()
