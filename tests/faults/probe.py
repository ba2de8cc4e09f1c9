"""One source asked once under a fault: what came of it, how long it took, how much memory."""

import contextlib
import functools
import os
import re
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.retries.standard import ExponentialBackoff
from standin import api

import extract.aws.capacity_blocks
import extract.aws.client
import extract.web.http
import extract.web.polite
from extract.base import Context
from extract.catalogues import skypilot_catalog as history
from faults.git_site import Descendants
from faults.subject import Subject
from faults.subjects import MOMENT, Lab
from faults.table import FINAL, HARMLESS, Fault, Way
from faults.tls import authority, certified
from faults.wire import FaultServer
from warehouse.documents import ScopeFetch
from warehouse.errors import ChipledgerError
from warehouse.log.gates import row_gate

LIMIT_S = 30.0
"""What a probe may take, on a busy machine."""
LIMIT_MIB = 256.0
"""By how much a probe may raise the peak of the memory; the fault server is in the same process."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Deadlines of the probes, in seconds; those of a deployment are many times as long."""

    read: float = 5.0
    whole: float = 20.0
    attempts: int = 2


SHORT = Patience(read=0.3, whole=0.6, attempts=1)
"""For faults that come to nothing but a deadline."""
MOST_ASKED = 3
"""Times that git is asked, where none before met the fault."""
GIT_S = 4.0
"""For git at least: what goes well takes some tenths of a second, in several processes."""
GIT_BYTES = 128 << 20
"""What each process of git may have in memory; that of a deployment is many times as much."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of asking: rows where it was read, else the error; seconds, and growth of the peak memory in MiB.

    `holes` are what an archive says of versions that it cannot give, `left` the programs that still ran afterwards.
    """

    subject: str
    fault: str
    kind: str
    error: BaseException | None
    rows: list[dict[str, Any]] | None
    seconds: float
    mib: float
    struck: int
    lost: int = 0
    door: str = "http"
    holes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the class of the error, "ok" where all was read, else who said what is lost: an archive, or the gate.

        An archive tells of a version that cannot be read as a hole, and goes on.
        """
        if self.error is None:
            return "ok" if not self.lost else "hole" if self.holes else "gate"
        return type(self.error).__name__

    def wrong_rows(self, good: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return what was read and does not stand in the good document; what is unknown says nothing wrong."""
        return [row for row in self.rows or [] if row not in good and not any(_says_less(row, each) for each in good)]


def _says_less(row: dict[str, Any], good: dict[str, Any]) -> bool:
    return row.keys() == good.keys() and all(value is None or value == good[name] for name, value in row.items())


def reset_peak() -> int:
    """Set the peak of this process's memory back to what it has now; return it in KiB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) if found else 0


@contextmanager
def quick(patch: pytest.MonkeyPatch, patience: Patience) -> Iterator[None]:
    """Let every client lose its patience soon, without pauses, and find no setting of this machine."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)
    for name, value in {
        "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_ACCESS_KEY_ID": api.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": api.SECRET_KEY,
        "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "*", "RES_OPTIONS": "timeout:1 attempts:1",
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
    }.items():  # fmt: skip
        patch.setenv(name, value)
    patch.delenv("DIGITALOCEAN_TOKEN", raising=False)
    patch.setattr(ExponentialBackoff, "delay_amount", lambda self, context: 0.001)
    patch.setenv("AWS_MAX_ATTEMPTS", str(patience.attempts))
    patch.setattr(extract.aws.capacity_blocks, "BACK_OFF_S", (0.1, 0.2))
    soon = extract.web.http.Retries(attempts=patience.attempts, seconds=10, pause_s=0.001, longest_s=0.002)
    patch.setattr(extract.web.http, "STREAM_RETRIES", soon)
    real = extract.web.http.HttpWeb
    patch.setattr(
        extract.web.http, "HttpWeb",
        functools.partial(
            real, retries=soon, connect_timeout_s=patience.read, read_timeout_s=patience.read,
            whole_timeout_s=patience.whole, stream_timeout_s=patience.whole,
        ),
    )  # fmt: skip
    patch.setattr(extract.aws.client, "CONNECT_TIMEOUT_S", patience.read)
    patch.setattr(extract.aws.client, "READ_TIMEOUT_S", patience.read)
    patch.setattr(extract.aws.client, "WHOLE_TIMEOUT_S", patience.whole)
    patch.setattr(extract.aws.client, "QUERY_TIMEOUT_S", 2.0)
    for name in ("CLONE_S", "READ_S"):
        patch.setattr(history, name, max(patience.whole, GIT_S))
    patch.setattr(history, "MEMORY_BYTES", GIT_BYTES)
    resolve = socket.getaddrinfo

    def resolved(host: Any, *given: Any, **named: Any) -> Any:
        if str(host).endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *given, **named)

    patch.setattr(socket, "getaddrinfo", resolved)
    yield


@contextmanager
def address(lab: Lab, subject: Subject, way: Way, patch: pytest.MonkeyPatch, folder: Path) -> Iterator[str]:
    """Give the address at which a subject is to ask."""
    server = lab.server(subject)
    trusted = folder / "authority.pem"
    if subject.is_secure or way.startswith("tls"):
        authority().cert_pem.write_to_path(str(trusted))
        for name in ("SSL_CERT_FILE", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"):
            patch.setenv(name, str(trusted))
    scheme = "https" if subject.is_secure else "http"
    match way:
        case "answer":
            yield server.url()
        case "refused":
            with socket.socket() as taken:  # bound and not listening: nobody else gets the port
                taken.bind(("127.0.0.1", 0))
                yield f"{scheme}://127.0.0.1:{taken.getsockname()[1]}"
        case "dns":
            yield f"{scheme}://prices.invalid"
        case "tls plain":
            with FaultServer(handle=subject.handle) as plain:
                yield plain.url().replace("http:", "https:")
        case _:
            with FaultServer(handle=subject.handle, tls=certified(way)) as secure:
                yield secure.url()


def ask(lab: Lab, subject: Subject, fault: Fault | None, folder: Path, n_good: int = 0) -> Outcome:
    """Ask a subject, under a fault or none, and read what came.

    On a busy machine git's short time may be over before it asks for what the fault spoils: then it is asked again.
    """
    for _ in range(MOST_ASKED):
        outcome = _asked(lab, subject, fault, folder, n_good)
        if fault is None or outcome.struck or subject.door != "git":
            break
    return outcome


def _asked(lab: Lab, subject: Subject, fault: Fault | None, folder: Path, n_good: int) -> Outcome:
    lab.wrong({} if fault is None else {subject.name: fault})
    patience = SHORT if fault is not None and fault.is_slow else Patience()
    watch = Descendants()
    with pytest.MonkeyPatch.context() as patch, quick(patch, patience):  # noqa: SIM117 - one sets up, one leads
        with address(lab, subject, fault.way if fault else "answer", patch, folder) as base:
            for name, value in subject.environment(base).items():
                patch.setenv(name, value)
            subject.prepare(base, folder, patch)
            web: Any = extract.web.http.HttpWeb()
            if subject.source.polite:
                web = extract.web.polite.PoliteWeb(web, pause_s=0.0)
            ctx = Context(web=web, settings=subject.settings(base), now=lambda: MOMENT)
            error: BaseException | None = None
            looks: list[ScopeFetch] = []
            rows = None
            with watch if subject.door == "git" else contextlib.nullcontext():
                before, begun = reset_peak(), time.monotonic()
                try:
                    looks.extend(subject.looks(ctx))
                    rows = read(subject, looks)
                except (KeyboardInterrupt, SystemExit):
                    raise
                except BaseException as caught:  # noqa: BLE001 - which of them come is what is asked
                    error = caught
                seconds, grown = time.monotonic() - begun, peak() - before
    return Outcome(
        subject=subject.name, fault=fault.name if fault else "none", kind=fault.kind if fault else "none", error=error,
        rows=rows, seconds=seconds, mib=max(grown, watch.most_kib) / 1024, struck=lab.server(subject).struck,
        lost=0 if rows is None else max(0, n_good - len(rows)), door=subject.door,
        holes=tuple(note for look in looks if not look.documents for note in look.notes), left=tuple(watch.left()),
    )  # fmt: skip


def read(subject: Subject, looks: Iterable[ScopeFetch]) -> list[dict[str, Any]]:
    """Return all that the documents of looks say: facts, and the rows that the row gate takes."""
    said: list[dict[str, Any]] = []
    for document in (document for look in looks for document in look.documents):
        parsed = subject.source.parse(document)
        said += row_gate(parsed.rows)[0].to_dicts()
        for name, frame in sorted(parsed.facts.items()):
            said += [{"table": name, **row} for row in frame.to_dicts()]
    return said


def expected(door: str, fault: Fault) -> set[str]:
    """Return what may come of a fault through a door.

    Archives tell of a version that is there and cannot be read as a hole. git says in words why it gave up, so that
    each of its failures is passing; what it does read has its own lengths and hashes, whatever frame it comes in.
    """
    allowed = {*fault.expected}
    if "Unavailable" in allowed:
        allowed.add("BrokenOff")
    if allowed & {*FINAL}:
        allowed.add("hole")
    if door == "git" and allowed != {*HARMLESS}:
        allowed |= {"Unavailable"} if fault.kind != "framing" else {"Unavailable", *HARMLESS}
    return allowed


def faulty(outcome: Outcome, fault: Fault, good: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with an outcome, in words."""
    found = []
    if outcome.name not in expected(outcome.door, fault):
        found.append(f"{outcome.name} in place of {' or '.join(fault.expected)}: {outcome.error!s:.200}")
    if outcome.wrong_rows(good):
        found.append(f"wrong rows: {outcome.wrong_rows(good)[:1]}")
    if isinstance(outcome.error, ChipledgerError):
        told = outcome.error
        if not told.source or not told.field or not told.hint:
            found.append(f"an error without source, field or hint: {told.as_dict()}")
    if outcome.seconds > LIMIT_S:
        found.append(f"{outcome.seconds:.1f} s")
    if outcome.mib > LIMIT_MIB:
        found.append(f"{outcome.mib:.0f} MiB")
    if outcome.left:
        found.append(f"still running: {outcome.left}")
    if fault.way == "answer" and not outcome.struck:
        found.append("the fault never struck")
    return found
