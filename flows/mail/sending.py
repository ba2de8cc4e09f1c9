"""Sending the weekly mail: one message a recipient, never the same week twice to the same one.

`mail.jsonl` is the record: one line before a message is handed over (`handing`) and one after
(`sent`, `uncertain`, or `failed` and `rejected` with the server's words), flushed to disk each, under a lock of its
own. What failed is sent by the next call for that week. A message is uncertain where the connection broke before the
server confirmed it, or the process was killed: it may have arrived. It is rejected where the server does not know the
address. The first call that finds either counts as failed, later ones only name it, and it is sent again only with
`again`.
"""

import smtplib
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

from flows.config.settings import MailSettings
from flows.shared import Clock, redact
from flows.shared.append_log import Lines
from reports.weekly import mail as letters
from reports.weekly.mail import Letter
from warehouse.landing.storage import Bucket

RECORD = "mail.jsonl"
MAX_ERROR = 300
TIMEOUT_S = 30.0
"""For each step of sending."""
UNKNOWN_ADDRESS = (550, 551, 553)
"""Answers to RCPT that wait for another address (RFC 5321, 4.2.3)."""


class Refused(Exception):
    """The server did not take the message; sending it again cannot double it."""


class Rejected(Refused):
    """The server does not know the address, and will not by itself."""


class Uncertain(Exception):
    """The message was handed over, and the answer never came."""


@dataclass(kw_only=True)
class Outcome:
    """What became of a week's mail: addresses by what happened, with the errors of those it failed for.

    `n_newly_uncertain` of the uncertain are named for the first time; those rejected by this call failed, too.
    `left_out`: why nobody is to get this week. `faults`: sections that could not be made.
    """

    week: str
    sent: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    uncertain: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    n_newly_uncertain: int = 0
    left_out: str = ""
    faults: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Return whether everybody has it, for all we know or have said before, and it is whole."""
        return not self.failed and not self.n_newly_uncertain and not self.faults


def record(data_dir: Path, shared: Path | Bucket | None = None) -> Lines:
    """Return the record; `shared` is where machines that share a warehouse have it."""
    return Lines(path=data_dir / RECORD, needed=("kind", "week", "to"), shared=shared)


def send(
    lines: Lines, written: Letter, chosen: MailSettings, *, post: "Post", clock: Clock, again: bool = False
) -> Outcome:
    """Send a week's mail to everybody who does not have it; with `again` also to those who may have it.

    Raises WriterBusy where another process sends.
    """
    outcome = Outcome(week=written.week)
    domain = chosen.sender.rpartition("@")[2]

    def note(kind: str, to: str, **more: str) -> None:
        known = {"week": written.week, "to": to, "message_id": letters.message_id(written.week, to, domain)}
        lines.add({"kind": kind, "at": clock().astimezone(UTC).isoformat(), **known, **more})

    def uncertain(to: str, *, is_new: bool = True) -> None:
        outcome.uncertain.append(to)
        if is_new:
            outcome.n_newly_uncertain += 1
            note("uncertain", to)

    with lines.locked(who="sends mail"):
        # The last thing that happened, by address.
        states = {each["to"].lower(): each["kind"] for each in lines.entries() if each["week"] == written.week}
        for to in chosen.to:
            state = states.get(to.lower())
            if state == "sent":
                outcome.already.append(to)
            elif state in ("handing", "uncertain") and not again:
                uncertain(to, is_new=state == "handing")
            elif state == "rejected" and not again:
                outcome.rejected.append(to)
            else:
                message = letters.message(written, sender=chosen.sender, to=to, reply_to=chosen.reply_to, at=clock())
                try:
                    post.hand_over(message, sender=chosen.sender, to=to, before=partial(note, "handing", to))
                except Refused as error:
                    outcome.failed[to] = " ".join(str(error).split())[:MAX_ERROR]
                    is_final = isinstance(error, Rejected)
                    outcome.rejected += [to] * is_final
                    note("rejected" if is_final else "failed", to, error=outcome.failed[to])
                except Uncertain:
                    uncertain(to)
                else:
                    note("sent", to)
                    outcome.sent.append(to)
    return outcome


@dataclass(frozen=True)
class Smtp:
    """A server that takes mail: one connection a message, certificates verified, nothing sent where TLS is missing."""

    settings: MailSettings
    context: ssl.SSLContext | None = None

    def hand_over(self, message: EmailMessage, *, sender: str, to: str, before: Callable[[], None]) -> None:
        """Hand one message over; `before` is called right before its content leaves. Raises Refused or Uncertain."""
        body = letters.as_bytes(message)
        try:
            with self._connected() as server:
                _expect(server.mail(sender))
                try:
                    _expect(server.rcpt(to))
                except smtplib.SMTPResponseException as error:
                    # RFC 3463: 5.7 is a rule of the server's, which the sender's settings may break.
                    if error.smtp_code in UNKNOWN_ADDRESS and not (text := self.fault(error))[4:].startswith("5.7."):
                        raise Rejected(text) from None
                    raise
                before()
                try:
                    _expect(server.data(body))
                except smtplib.SMTPResponseException as error:
                    raise Refused(self.fault(error)) from None
                except (OSError, smtplib.SMTPException) as error:
                    raise Uncertain from error
        except (OSError, smtplib.SMTPException) as error:
            raise Refused(self.fault(error)) from None

    def fault(self, error: Exception) -> str:
        """Return an error, or the server's words, which may repeat the password, in Base64 as it was sent."""
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, smtplib.SMTPResponseException):
            words = error.smtp_error
            text = f"{error.smtp_code} {words.decode('utf-8', 'replace') if isinstance(words, bytes) else words}"
        return redact.hide(text, secrets=[self.settings.password.get_secret_value()])

    def greet(self) -> None:
        """Connect, secure the connection and log in, and leave. Raises OSError or SMTPException."""
        with self._connected():
            pass

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        from extract.web import certificates

        chosen = self.settings
        context = self.context or certificates.tls_context()
        where: dict[str, Any] = {"host": chosen.host, "port": chosen.port, "timeout": TIMEOUT_S}
        server = smtplib.SMTP_SSL(**where, context=context) if chosen.tls == "implicit" else smtplib.SMTP(**where)
        try:
            if chosen.tls == "starttls":
                server.starttls(context=context)
            if chosen.user:
                server.login(chosen.user, chosen.password.get_secret_value())
            server.ehlo_or_helo_if_needed()
            yield server
        finally:
            # The message's fate is known by now; how the server says goodbye changes nothing.
            try:
                server.quit()
            except (OSError, smtplib.SMTPException):
                server.close()


def _expect(answer: tuple[int, bytes]) -> None:
    """Raise SMTPResponseException for all but yes, and yes by forwarding (RFC 5321, 4.2.3)."""
    if answer[0] not in (250, 251):
        raise smtplib.SMTPResponseException(*answer)


@dataclass(frozen=True)
class Ses:
    """Amazon SES, by the credentials and region that boto3 finds; it is asked once, as asking again could double it."""

    settings: MailSettings

    def hand_over(self, message: EmailMessage, *, sender: str, to: str, before: Callable[[], None]) -> None:
        from botocore import exceptions

        client = self.client()
        before()
        try:
            content = {"Raw": {"Data": letters.as_bytes(message)}}
            client.send_email(FromEmailAddress=sender, Destination={"ToAddresses": [to]}, Content=content)
        except (exceptions.ReadTimeoutError, exceptions.ConnectionClosedError) as error:
            raise Uncertain from error
        except exceptions.ClientError as error:
            if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) >= 500:
                raise Uncertain from error
            raise Refused(str(error)) from error
        except exceptions.BotoCoreError as error:
            raise Refused(str(error)) from error

    def client(self) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError

        from extract.web import certificates

        certificates.share()
        config = Config(retries={"total_max_attempts": 1}, read_timeout=TIMEOUT_S)
        try:
            return boto3.client("sesv2", region_name=self.settings.region or None, config=config)
        except BotoCoreError as error:
            raise Refused(str(error)) from error


Post = Smtp | Ses
"""A way to hand a message over."""


def post_of(chosen: MailSettings) -> Post:
    """Return the way that the settings choose."""
    return Ses(chosen) if chosen.transport == "ses" else Smtp(chosen)
