"""Alerts of the daily run: findings are recorded, then each channel is sent what it has not received.

`alerts.jsonl` in the data directory is the record, append-only and flushed to disk: the baseline, what was news, and of
each message a line before it is sent and one after. A channel gets one message of a kind a day at most (UTC),
with all in it that it has not had. What was refused is sent again by the next run, to that channel alone; what may have
arrived is not.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from flows.config.settings import CHAT_ADDRESSES, Settings
from warehouse.errors import ChipledgerError, SettingsError

if TYPE_CHECKING:
    from flows.alerts.channels import Channel
    from flows.alerts.findings import State
    from flows.alerts.text import Message
    from flows.config.settings import AlertSettings
    from flows.shared.append_log import Lines

LOG = logging.getLogger(__name__)
RECORD = "alerts.jsonl"
LONGEST_ERROR = 200

Clock = Callable[[], datetime]


@dataclass(kw_only=True)
class Outcome:
    """What became of an alert run: kinds whose baseline was set, titles by channel, and errors by channel.

    `uncertain`: channels with how many items may or may not have arrived.
    """

    baseline: list[str] = field(default_factory=list)
    sent: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    uncertain: dict[str, int] = field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """Return whether everybody knows, for all we know."""
        return not self.failed and not self.uncertain


def is_wanted(settings: Settings) -> bool:
    """Return whether anything is set up at all; what is not set up costs nothing."""
    return settings.alerts.is_set or bool(settings.chat_urls())


def after_run(settings: Settings, *, clock: Clock) -> None:
    """Send alerts after a run. A failure is a warning and leaves the outcome of the run unchanged."""
    if not is_wanted(settings) or not (settings.data_dir / "prices.duckdb").exists():
        return
    import duckdb

    try:
        outcome = send_due(settings, clock=clock)
    except (ChipledgerError, OSError, duckdb.Error) as error:
        LOG.warning("alerts: %s", error)
        return
    for line in lines(outcome):
        LOG.log(logging.INFO if outcome.is_good else logging.WARNING, "alerts: %s", line)


def send_due(settings: Settings, *, clock: Clock, channels: "Sequence[Channel] | None" = None) -> Outcome:
    """Find news, record it, and send every channel what it has not received.

    Raises SettingsError where there is no recipient or [alerts] is wrong; WriterBusy where another process sends.
    """
    from flows.alerts import findings
    from flows.alerts import text as alert_words
    from flows.shared.append_log import Lines, locked

    chosen = settings.alerts
    channels = channels_of(settings) if channels is None else channels
    outcome = Outcome()
    with locked(settings.data_dir / "alerts.lock", who="sends alerts"):
        record = Lines(path=settings.data_dir / RECORD, needed=("what", "at"))
        state = findings.read_state(record.entries())
        now = clock()
        for channel in channels:
            if channel.name not in state.joined:
                _add(record, state, {"what": "channel", "at": _text(now), "channel": channel.name})
        built_at, found = _find(settings, chosen, state, now)
        for entry in findings.entries(found, state, built_at=built_at, at=now):
            _add(record, state, entry)
            outcome.baseline += [entry["kind"]] if entry["what"] == "baseline" else []
        for channel in channels:
            for kind, ids in state.unanswered(channel.name).items():
                _note(record, state, "uncertain", channel.name, kind, ids, at=now)
                outcome.uncertain[channel.name] = outcome.uncertain.get(channel.name, 0) + len(ids)
            for kind in chosen.kinds:
                due = state.due(channel.name, kind, _text(now)[:10])
                if due:
                    alert = alert_words.message(kind, due, **_limits(chosen))
                    _send_one(record, state, channel, alert, outcome, clock=clock)
    return outcome


def preview(settings: Settings, *, clock: Clock) -> "tuple[list[str], list[Message]]":
    """Return the kinds that have no baseline yet, and what would be sent now; nothing is written and nothing sent.

    What some channel has had, and another one has not, is in it.
    """
    from flows.alerts import findings
    from flows.alerts import text as alert_words
    from flows.shared.append_log import Lines

    chosen = settings.alerts
    record = Lines(path=settings.data_dir / RECORD, needed=("what", "at"))
    state, now = findings.read_state(record.entries()), clock()
    built_at, found = _find(settings, chosen, state, now)
    added = list(findings.entries(found, state, built_at=built_at, at=now))
    for entry in added:
        state.add(entry)
    names = [*state.joined] or ["nobody"]
    state.joined.setdefault("nobody", len(state.items) - sum(len(entry.get("items", ())) for entry in added))
    messages = []
    for kind in chosen.kinds:
        due = {item.id: item for name in names for item in state.due(name, kind, _text(now)[:10])}
        if due:
            messages.append(alert_words.message(kind, list(due.values()), **_limits(chosen)))
    return [entry["kind"] for entry in added if entry["what"] == "baseline"], messages


def channels_of(settings: Settings) -> "list[Channel]":
    """Return all recipients. Raises SettingsError where there is none, or an address is wrong."""
    from flows.alerts.channels import MailChannel, chat
    from flows.mail import sending

    to, urls = settings.alerts.to, settings.chat_urls()
    if not to and not urls:
        raise SettingsError(
            "alerts have no recipient",
            field="alerts.to",
            hint=f"Set mail addresses, or chat services in {CHAT_ADDRESSES}",
        )
    made: list[Channel] = []
    if to:
        post = settings.mail_to_send(to=to)
        made += [MailChannel(to=address, chosen=post, post=sending.post_of(post)) for address in to]
    return made + [chat(url, number=number) for number, url in enumerate(urls, start=1)]


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield what became of it, for people; no address of a chat service is in it."""
    if outcome.baseline:
        yield f"first run: what is known now of {', '.join(outcome.baseline)} is recorded, not sent"
    for channel, titles in outcome.sent.items():
        for title in titles:
            yield f"sent to {channel}: {title}"
    for channel, error in outcome.failed.items():
        yield f"failed; the next run sends it again: {channel}: {error}"
    for channel, n in outcome.uncertain.items():
        yield f"may have arrived, not sent again: {channel}: {n} items"
    if not (outcome.baseline or outcome.sent or outcome.failed or outcome.uncertain):
        yield "nothing to send"


def _find(settings: Settings, chosen: "AlertSettings", state: "State", now: datetime) -> Any:
    from flows.alerts import findings

    return findings.find(
        settings.published(),
        state,
        kinds=chosen.kinds,
        now=now,
        least=chosen.change_percent / 100,
        stale_days=chosen.stale_days,
        watched=chosen.matches,
    )


def _limits(chosen: "AlertSettings") -> dict[str, float]:
    return {"least": chosen.change_percent / 100, "stale_days": chosen.stale_days}


def _send_one(
    record: "Lines", state: "State", channel: "Channel", alert: "Message", outcome: Outcome, *, clock: Clock
) -> None:
    from flows.mail.sending import Refused, Uncertain

    def note(what: str, error: str = "") -> None:
        _note(record, state, what, channel.name, alert.kind, alert.ids, at=clock(), error=error)

    try:
        channel.send(alert, at=clock(), before=lambda: note("handing"))
    except Refused as error:
        text = " ".join(str(error).split())[:LONGEST_ERROR]
        note("failed", error=text)
        outcome.failed[channel.name] = text
    except Uncertain:
        note("uncertain")
        outcome.uncertain[channel.name] = outcome.uncertain.get(channel.name, 0) + len(alert.ids)
    else:
        note("sent")
        outcome.sent.setdefault(channel.name, []).append(alert.title)


def _note(
    record: "Lines",
    state: "State",
    what: str,
    channel: str,
    kind: str,
    ids: "Sequence[str]",
    *,
    at: datetime,
    error: str = "",
) -> None:
    entry = {"what": what, "at": _text(at), "kind": kind, "channel": channel, "ids": list(ids)}
    _add(record, state, entry | ({"error": error} if error else {}))


def _add(record: "Lines", state: "State", entry: Mapping[str, Any]) -> None:
    record.add(entry)
    state.add(entry)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
