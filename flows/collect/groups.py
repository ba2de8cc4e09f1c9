"""Groups of scopes that others collect for a run: sent, taken as they come, and sent again where their process died.

Who is sent to is behind `Sender` (the workers of a Prefect work pool, in flows/daily.py); nothing of Prefect is here.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flows.collect.fan_out import Collected, Known, Scope
from warehouse.errors import Unavailable

POLL_S = 1.0
TAKEN_WITHIN_S = 300.0
"""What nobody begins within this is collected by the run itself: there may be no worker but the one that runs it."""
Take = Callable[[Collected], None]
"""Takes what became of one scope."""
TRIES = 3
"""A scope whose process died so often is given up: it may be what kills it."""


class Sender(Protocol):
    """Has groups collected by somebody, by number."""

    def send(self, number: int, scopes: Sequence[Scope]) -> str:
        """Ask for a group to be collected; return an id for what follows."""

    def ended(self, sent_id: str) -> str:
        """Return how it ended, in words; empty where it may still begin or is going on."""

    def cancel(self, sent_id: str) -> None:
        """Let nobody begin it any more, as far as that can be said."""


class Handover(Protocol):
    """What a run and those who collect hand each other; see flows.collect.handed and flows.collect.handed_shared."""

    def ask(self, number: int, known: Mapping[Scope, Known]) -> None: ...
    def taken(self, number: int) -> list[Collected]: ...
    def is_begun(self, number: int) -> bool: ...
    def is_over(self, number: int) -> bool: ...
    def take_back(self, number: int) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A group that was sent: its id, scopes, how often they were sent before, and when, in seconds of a clock."""

    sent_id: str
    scopes: tuple[Scope, ...]
    earlier: int
    at: float


class Sharing:
    """One sharing out of groups; `known` tells what the log says of a scope, `take` gets what became of each."""

    def __init__(
        self,
        sender: Sender,
        handover: Handover,
        *,
        known: Callable[[Scope], Known],
        take: Take,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sender, self._handover = sender, handover
        self._known, self._take = known, take
        self._clock, self._sleep = clock, sleep
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Sent] = {}
        self._got: set[Scope] = set()
        self._left: list[Scope] = []

    def collect(self, groups: Iterable[Sequence[Scope]]) -> list[Scope]:
        """Have groups collected and take what comes; return the scopes that nobody began in time."""
        for group in groups:
            self._send(group, earlier=0)
        while self._waiting:
            for number, sent in list(self._waiting.items()):
                self._look_after(number, sent)
            if self._waiting:
                self._sleep(POLL_S)
        return self._left

    def _send(self, scopes: Sequence[Scope], *, earlier: int) -> None:
        number = next(self._numbers)
        self._handover.ask(number, {scope: self._known(scope) for scope in scopes})
        sent_id = self._sender.send(number, scopes)
        self._waiting[number] = Sent(sent_id=sent_id, scopes=tuple(scopes), earlier=earlier, at=self._clock())

    def _look_after(self, number: int, sent: Sent) -> None:
        is_over = self._handover.is_over(number)  # asked first: what was given before the end is there now
        for collected in self._handover.taken(number):
            self._got.add((collected.source, collected.scope))
            self._take(collected)
        missing = [scope for scope in sent.scopes if scope not in self._got]
        if is_over or not missing:
            del self._waiting[number]
            self._again(missing, sent, "the process that collected it ended without it")
        elif not self._handover.is_begun(number):
            ended = self._sender.ended(sent.sent_id)
            is_late = self._clock() - sent.at > TAKEN_WITHIN_S
            if (ended or is_late) and self._handover.take_back(number):
                del self._waiting[number]
                if ended:
                    self._again(missing, sent, ended)
                else:
                    self._sender.cancel(sent.sent_id)
                    self._left += missing

    def _again(self, missing: Sequence[Scope], sent: Sent, why: str) -> None:
        """Send what is missing once more, in two groups, then each by itself: one that kills costs itself alone."""
        earlier = sent.earlier + 1
        if earlier < TRIES:
            count = 2 if earlier < TRIES - 1 else len(missing)
            for group in (missing[number::count] for number in range(count)):
                if group:
                    self._send(group, earlier=earlier)
            return
        for source, scope in missing:
            error = Unavailable(f"not collected in {earlier} tries: {why}", source=source, field="scope", value=scope)
            self._take(Collected(source=source, scope=scope, error=error))
