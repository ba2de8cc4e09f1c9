"""What can be harmed: one way through a source."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from standin.exchange import Answer

from extract.base import Context, Source
from faults.table import Fault, strikes
from faults.wire import ROBOTS, Handle
from warehouse.documents import ScopeFetch


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One way through a source: what is asked of it, where its server gets answers, and which requests to spoil.

    `body` is the kind of its document, `door` the way of asking: http (whole), stream (bulk files), boto3 or git.
    `server` names the server; subjects that share one fail together. `settings` and `environment` lead it to an
    address, and `prepare` does where neither can, or forgets what was fetched before. `days` are those that an archive
    is asked for. `is_secure` ones are asked over TLS only, `is_daily` ones are part of a daily run, and `is_quick` ones
    are tried in every run of the tests.
    """

    name: str
    source: Source
    scope: str
    body: str
    door: str = "http"
    server: str = ""
    handle: Handle
    settings: Callable[[str], dict[str, Any]]
    environment: Callable[[str], dict[str, str]] = lambda base: {}
    mine: Callable[[str, Mapping[str, str], bytes], bool] = lambda path, headers, body: True
    prepare: Callable[[str, Path, pytest.MonkeyPatch], None] = lambda base, folder, patch: None
    days: tuple[datetime, datetime] | None = None
    is_secure: bool = False
    is_daily: bool = True
    is_quick: bool = True

    def looks(self, ctx: Context) -> Iterable[ScopeFetch]:
        """Ask for today's prices, or for those of the days."""
        if self.days is None:
            return [self.source.fetch(ctx, self.scope)]
        assert self.source.backfill is not None
        return self.source.backfill(ctx, self.scope, *self.days)

    def reason_against(self, fault: Fault) -> str:
        """Return why a fault cannot befall it, "" where it can."""
        if fault.robots and not self.source.polite:
            return "asks for no robots.txt: a provider's public interface or published file"
        if fault.bodies and self.body not in fault.bodies:
            return f"its document is {self.body}, the fault one of {', '.join(fault.bodies)}"
        if fault.doors and self.door not in fault.doors:
            return f"asked through {self.door}, the fault is one of {', '.join(fault.doors)}"
        return ""

    def strikes(self, fault: Fault, path: str, headers: Mapping[str, str], body: bytes) -> bool:
        return strikes(fault, path) and (fault.robots or self.mine(path, headers, body))


def fixed(body: bytes, content_type: str) -> Handle:
    def handle(method: str, path: str, headers: Mapping[str, str], asked: bytes) -> tuple[Answer, Callable[[], None]]:
        if path == ROBOTS:
            return Answer(body=b"User-agent: *\nDisallow: /admin\n", content_type="text/plain"), lambda: None
        return Answer(body=body, content_type=content_type), lambda: None

    return handle


def says(word: bytes) -> Callable[[str, Mapping[str, str], bytes], bool]:
    return lambda path, headers, body: word in body


def ends(*endings: str) -> Callable[[str, Mapping[str, str], bytes], bool]:
    return lambda path, headers, body: path.endswith(endings)
