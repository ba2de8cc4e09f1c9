"""Channels of alerts: mail through the server of the weekly mail, and chat services through Apprise.

An address of a chat service carries its secret. So it is named by its service and a digest alone, and Apprise's own
log, which names hosts and addresses, is read here and goes nowhere.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from typing import Any

from flows.alerts.findings import Message
from flows.config.settings import CHAT_ADDRESSES, MailSettings
from flows.mail.sending import Post, Refused, Uncertain
from reports.weekly.mail import new_message
from warehouse.errors import SettingsError

BEFORE_HANDING = ("NewConnectionError", "NameResolutionError", "ConnectTimeout", "Failed to establish", "SSLError")
"""Causes of requests for which nothing was sent."""


@dataclass(frozen=True, kw_only=True)
class MailChannel:
    """One address, which gets its alerts through the server of [mail]."""

    to: str
    chosen: MailSettings
    post: Post

    @property
    def name(self) -> str:
        return mail_name(self.to)

    def send(self, alert: Message, *, at: datetime, before: Callable[[], None]) -> None:
        """Send one message; `before` is called right before. Raises Refused or Uncertain."""
        made = letter(alert, sender=self.chosen.sender, to=self.to, reply_to=self.chosen.reply_to, at=at)
        self.post.hand_over(made, sender=self.chosen.sender, to=self.to, before=before)


def mail_name(to: str) -> str:
    """Return the name of the channel of an address."""
    return f"mail:{to.lower()}"


def letter(alert: Message, *, sender: str, to: str, reply_to: str = "", at: datetime) -> EmailMessage:
    """Return an alert as a message of plain text; addresses are plain ones, name@domain."""
    made = new_message(alert.title, f"{alert.text}\n", sender=sender, to=to, reply_to=reply_to, at=at, kind="alerts")
    who = hashlib.sha256("\n".join((alert.kind, to.lower(), *alert.ids)).encode()).hexdigest()[:20]
    made["Message-ID"] = f"<alert.{who}@{Address(addr_spec=sender).domain}>"
    return made


@dataclass(frozen=True, kw_only=True)
class ChatChannel:
    """One chat service; `plugin` is what Apprise made of its address."""

    name: str
    plugin: Any

    def send(self, alert: Message, *, at: datetime, before: Callable[[], None]) -> None:
        before()
        with _overheard() as lines:
            try:
                accepted = self.plugin.notify(body=alert.text, title=alert.title, body_format="text")
            except Exception:  # noqa: BLE001 (as below)
                raise Uncertain from None
        if accepted:
            return
        log_text = "\n".join(lines)
        if (answer := re.search(r"error=(\d{3})", log_text)) is not None:
            raise Refused(f"the service answered {answer[1]}")
        cause = next((line for line in lines if line.startswith(("Socket Exception", "A Connection error"))), "")
        if cause and not any(word in log_text for word in BEFORE_HANDING):
            raise Uncertain
        raise Refused("the service was not reached" if cause else "the service did not accept it")


Channel = MailChannel | ChatChannel
"""A recipient of alerts. Its name is written to the record and the log, and holds no secret."""


def chat(url: str, *, number: int) -> ChatChannel:
    """Return the channel of one address. Raises SettingsError, which names its place in the list alone."""
    from extract.web import certificates

    certificates.share()
    with _overheard():
        import apprise

        try:
            plugin, why = apprise.Apprise.instantiate(url, suppress_exceptions=False), "unknown service"
        except Exception as error:  # noqa: BLE001 (plugins raise what they like, and what they say may hold the secret)
            plugin, why = None, type(error).__name__
    if plugin is None:
        hint = "docs/mail.md#alerts shows examples"
        raise SettingsError(f"address {number} is none that Apprise knows ({why})", source=CHAT_ADDRESSES, hint=hint)
    # What is too long for a service is cut, as one message is promised; the title has the counts.
    plugin.overflow_mode = apprise.OverflowMode.TRUNCATE
    digest = hashlib.sha256(url.encode()).hexdigest()[:12]
    return ChatChannel(name=f"{url.partition(':')[0].lower()}:{digest}", plugin=plugin)


@contextmanager
def _overheard() -> Iterator[list[str]]:
    """Keep what Apprise, and the client that it asks through, would log from everybody else; yield Apprise's lines."""
    lines: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    logs = {name: logging.getLogger(name) for name in ("apprise", "urllib3")}
    kept = {name: (log.level, log.propagate, list(log.handlers)) for name, log in logs.items()}
    for log in logs.values():
        log.propagate = False
        log.handlers = []
    logs["apprise"].handlers = [Ear()]
    logs["apprise"].setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        for name, log in logs.items():
            level, log.propagate, log.handlers = kept[name]
            log.setLevel(level)
