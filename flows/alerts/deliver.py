"""Alerts of the daily run: findings are recorded, then each channel is sent what it has not received.

`alerts.jsonl` is the record, append-only and flushed to disk: the baseline, what was news, and of
each message a line before it is sent and one after. A channel gets one message of a kind a day at most (UTC),
with all in it that it has not had. What was refused is sent again by the next run, to that channel alone; what may have
arrived, or was for an address that the server does not know, is not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from flows.alerts import findings
from flows.alerts.channels import Channel, MailChannel, chat, mail_name
from flows.config.settings import CHAT_ADDRESSES, Settings
from flows.mail import sending
from flows.mail.sending import Refused, Rejected, Uncertain
from flows.shared import Clock
from flows.shared.append_log import Lines
from warehouse.errors import SettingsError

RECORD = "alerts.jsonl"
MAX_ERROR = 200


@dataclass(kw_only=True)
class Outcome:
    """What became of an alert run: kinds whose baseline was set, titles by channel, and errors by channel.

    `rejected`: those of `failed` that know no such address. `uncertain`: channels with how many items may have arrived.
    """

    baseline: list[str] = field(default_factory=list)
    sent: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)
    uncertain: dict[str, int] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Return whether everybody knows, for all we know."""
        return not self.failed and not self.uncertain


class Ledger:
    """The record of alerts, and the state that its lines make together."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.state = findings.State()
        for entry in lines.entries():
            self.state.add(entry)

    def add(self, entry: Mapping[str, Any]) -> None:
        self._lines.add(entry)
        self.state.add(entry)

    def note(self, what: str, channel: str, kind: str, ids: Sequence[str], *, at: datetime, error: str = "") -> None:
        """Append what became of items on a channel."""
        entry = {"what": what, "at": _text(at), "kind": kind, "channel": channel, "ids": list(ids)}
        self.add(entry | ({"error": error} if error else {}))


def send_due(settings: Settings, *, clock: Clock, channels: Sequence[Channel] | None = None) -> Outcome:
    """Find news, record it, and send every channel what it has not received.

    Raises SettingsError where no recipient can be used; WriterBusy where another process sends.
    """
    chosen, outcome = settings.alerts, Outcome()
    channels = channels_of(settings, outcome.failed) if channels is None else channels
    record = _record(settings)
    with record.locked(who="sends alerts"):
        ledger, now = Ledger(record), clock()
        state = ledger.state
        for name in (*(channel.name for channel in channels), *outcome.failed):
            if name not in state.joined:
                ledger.add({"what": "channel", "at": _text(now), "channel": name})
        for entry in findings.news(settings.published(), state, chosen, at=now):
            ledger.add(entry)
            outcome.baseline += [entry["kind"]] if entry["what"] == "baseline" else []
        for channel in channels:
            for kind, ids in state.unanswered(channel.name).items():
                ledger.note("uncertain", channel.name, kind, ids, at=now)
                outcome.uncertain[channel.name] = outcome.uncertain.get(channel.name, 0) + len(ids)
            for kind in chosen.kinds:
                if due := findings.held(settings.published(), state.due(channel.name, kind, _text(now)[:10])):
                    _send_one(ledger, channel, findings.message(kind, due, chosen), outcome, clock=clock)
    return outcome


def preview(settings: Settings, *, clock: Clock) -> tuple[list[str], list[findings.Message]]:
    """Return the kinds that have no baseline yet, and what would be sent now; nothing is written and nothing sent.

    What some channel has had, and another one has not, is in it.
    """
    chosen, now = settings.alerts, clock()
    state, faults = Ledger(_record(settings)).state, dict[str, str]()
    try:
        usable = channels_of(settings, faults)
        names = [*(channel.name for channel in usable), *faults]
    except SettingsError:
        names = ["nobody"]
    for name in names:
        state.joined.setdefault(name, len(state.items))
    added = findings.news(settings.published(), state, chosen, at=now)
    for entry in added:
        state.add(entry)
    messages = []
    for kind in chosen.kinds:
        due = {item.id: item for name in names for item in state.due(name, kind, _text(now)[:10])}
        if held := findings.held(settings.published(), list(due.values())):
            messages.append(findings.message(kind, held, chosen))
    return [entry["kind"] for entry in added if entry["what"] == "baseline"], messages


def channels_of(settings: Settings, faults: dict[str, str]) -> list[Channel]:
    """Return all recipients that can be used, and add what is wrong with others to `faults`.

    Raises SettingsError where there is none.
    """
    to, urls = settings.alerts.to, settings.chat_urls()
    if not to and not urls:
        hint = f"Set mail addresses, or chat services in {CHAT_ADDRESSES}"
        raise SettingsError("alerts have no recipient", field="alerts.to", hint=hint)
    made: list[Channel] = []
    wrong: list[SettingsError] = []
    try:
        post = settings.mail_to_send(to=to) if to else settings.mail
        made += [MailChannel(to=address, chosen=post, post=sending.post_of(post)) for address in to]
    except SettingsError as error:
        wrong.append(error)
        faults |= {mail_name(address): str(error) for address in to}
    for number, url in enumerate(urls, start=1):
        try:
            made.append(chat(url, number=number))
        except SettingsError as error:
            wrong.append(error)
            faults[f"{CHAT_ADDRESSES}, {number}"] = error.message
    if not made:
        raise wrong[0]
    return made


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield what became of it, for people; no address of a chat service is in it."""
    if outcome.baseline:
        yield f"first run: what is known now of {', '.join(outcome.baseline)} is recorded, not sent"
    for channel, titles in outcome.sent.items():
        for title in titles:
            yield f"sent to {channel}: {title}"
    for channel, error in outcome.failed.items():
        after = "refused for good, not sent again" if channel in outcome.rejected else "the next run tries again"
        yield f"failed; {after}: {channel}: {error}"
    for channel, n in outcome.uncertain.items():
        yield f"may have arrived, not sent again: {channel}: {n} items"
    if not (outcome.baseline or outcome.sent or outcome.failed or outcome.uncertain):
        yield "nothing to send"


def _record(settings: Settings) -> Lines:
    return Lines(path=settings.data_dir / RECORD, needed=("what", "at"), shared=settings.shared_records())


def _send_one(ledger: Ledger, channel: Channel, alert: findings.Message, outcome: Outcome, *, clock: Clock) -> None:
    def note(what: str, error: str = "") -> None:
        ledger.note(what, channel.name, alert.kind, alert.ids, at=clock(), error=error)

    try:
        channel.send(alert, at=clock(), before=lambda: note("handing"))
    except Refused as error:
        is_final = isinstance(error, Rejected)
        outcome.failed[channel.name] = " ".join(str(error).split())[:MAX_ERROR]
        (outcome.rejected.add if is_final else outcome.rejected.discard)(channel.name)
        note("rejected" if is_final else "failed", error=outcome.failed[channel.name])
    except Uncertain:
        note("uncertain")
        outcome.uncertain[channel.name] = outcome.uncertain.get(channel.name, 0) + len(alert.ids)
    else:
        note("sent")
        outcome.sent.setdefault(channel.name, []).append(alert.title)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
