"""git as the catalogues are read with it: bounded, alone, and over when its command is."""

import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from git_repository import Repository, table

from extract.base import Context
from extract.catalogues import skypilot_catalog as history
from extract.catalogues.skypilot_catalog import SOURCE
from faults import git_site
from faults.spoilers import moved, silent
from faults.subjects import MOMENT
from faults.tls import authority, certified
from faults.wire import Exchange, FaultServer, Spoil
from warehouse.errors import SourceError, Unavailable


@contextmanager
def site(spoil: Spoil | None = None) -> Iterator[FaultServer]:
    """Give a server with the catalogues, which spoils all answers."""
    with FaultServer(handle=git_site.handle, tls=certified("tls good")) as running:
        running.wrong(None if spoil is None else lambda path, headers, body: spoil)
        yield running


@pytest.fixture(autouse=True)
def own_clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clones be of a test's own, and its servers be trusted."""
    monkeypatch.setenv(history.CACHE, str(tmp_path / "clones"))
    authority().cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "authority.pem"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


def read(url: str) -> list[bytes]:
    assert SOURCE.backfill is not None
    ctx = Context(web=None, settings={"url": url}, now=lambda: MOMENT)  # type: ignore[arg-type]
    return [look.documents[0].body for look in SOURCE.backfill(ctx, "lambda", None, None)]


def test_a_redirect_is_not_followed() -> None:
    """Not even to a site that has the same: its address can be set."""
    with site() as other, site(moved(other.url() + "{path}")) as here:
        assert len(read(other.url() + git_site.PATH)) == 2
        (Path(history._folder("")) / history.FOLDER).rename(Path(history._folder("")) / "elsewhere")
        other.asked.clear()
        with pytest.raises(Unavailable, match="git clone failed"):
            read(here.url() + git_site.PATH)
        assert other.asked == []


def test_nobody_is_asked_for_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a program that opens a window, nor one that keeps the passwords of whoever runs this."""
    program = tmp_path / "asks"
    program.write_text(f"#!/bin/sh\necho asked >> {tmp_path}/asked\necho password=secret\n")
    program.chmod(0o755)
    (tmp_path / "gitconfig").write_text(f"[credential]\n    helper = {program}\n")
    monkeypatch.setenv("GIT_ASKPASS", str(program))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))

    def refuse(x: Exchange) -> None:
        x.send(b"no", status=401, WWW_Authenticate='Basic realm="prices"')

    with site(refuse) as here, pytest.raises(Unavailable, match="could not read Username"):
        read(here.url() + git_site.PATH)
    assert not (tmp_path / "asked").exists()


def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before the time of a clone is over."""
    monkeypatch.setattr(history, "SILENT_S", 1)
    begun = time.monotonic()
    with site(silent) as here, pytest.raises(Unavailable, match="Operation too slow"):
        read(here.url() + git_site.PATH)
    assert time.monotonic() - begun < 20


@pytest.mark.prove
def test_its_end_is_that_of_all_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time, and where a command is broken off: none goes on to fetch."""

    def broken_off(*_: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, broken_off)
    try:
        with site(silent) as here, git_site.Descendants() as watch:
            signal.setitimer(signal.ITIMER_REAL, 0.4)
            with pytest.raises(KeyboardInterrupt):
                read(here.url() + git_site.PATH)
            monkeypatch.setattr(history, "CLONE_S", 0.4)
            with pytest.raises(Unavailable, match=r"more than 0\.4 s"):
                read(here.url() + git_site.PATH)
            assert watch.most_kib
            assert watch.left() == []
    finally:
        signal.signal(signal.SIGALRM, old)


def test_what_ran_before_is_not_left_over() -> None:
    """A program that an earlier test keeps is none of those that are watched; one that is begun meanwhile is."""
    with subprocess.Popen(["sleep", "100"]) as earlier:
        with git_site.Descendants() as watch, subprocess.Popen(["sleep", "200"]) as later:
            time.sleep(10 * git_site.LOOK_S)
            left = watch.left(within_s=0)
            later.kill()
        earlier.kill()
    assert left == ["sleep 200 "]


def test_a_table_that_swells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred bytes of a pack can be a table of any size."""
    repository = Repository(tmp_path / "catalog")
    repository.commit("2026-01-01T00:00:00+00:00", v8_lambda=bytes(1 << 20))
    monkeypatch.setattr(history, "READ_BYTES", 1 << 19)
    with pytest.raises(SourceError, match="cat-file prints more than 524288 bytes"):
        read(repository.url)


def test_a_clone_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its size on the disk."""
    repository = Repository(tmp_path / "catalog")
    repository.commit("2026-01-01T00:00:00+00:00", **{f"v8_{secrets.token_hex(20)}": table(n) for n in range(200)})
    monkeypatch.setattr(history, "CLONE_BYTES", 4096)
    with pytest.raises(Unavailable, match="git clone failed"):
        read(repository.url)
