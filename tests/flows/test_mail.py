"""Sending the weekly mail to a real SMTP server with TLS and passwords, to SES, and never twice to the same person."""

import email
import json
import smtplib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from mail_server import serving
from pydantic import SecretStr

from flows.config.settings import MailSettings
from flows.mail import sending, weekly_steps
from flows.mail.sending import Outcome, Refused, Smtp, Uncertain
from flows.shared.append_log import Lines
from reports.weekly.mail import Letter
from warehouse.errors import ChipledgerError, WriterBusy

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")

NOON = datetime(2026, 1, 12, 12, tzinfo=UTC)
LETTER = Letter(week="2026-W02", subject="RunPod raised H100 21 %", text="text\n", html="<p>text</p>")
A, B = "a@example.com", "b@example.com"
BASE = MailSettings(sender="prices@example.com", to=(A, B), host="localhost", user="me", password=SecretStr("secret"))


def send(data_dir: Path, post: sending.Post, chosen: MailSettings = BASE, **others: Any) -> Outcome:
    return sending.send(sending.record(data_dir), LETTER, chosen, post=post, clock=lambda: NOON, **others)


def record(data_dir: Path) -> list[tuple[str, str]]:
    lines = (data_dir / "mail.jsonl").read_text().splitlines()
    return [(entry["kind"], entry["to"]) for entry in map(json.loads, lines)]


# --- a server


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
def test_a_server_with_tls_and_password_takes_one_message_each(tmp_path: Path, tls: str) -> None:
    """Each recipient has a message of its own, which a reader parses again."""
    with serving(tls=tls) as server:
        chosen = BASE.model_copy(update={"tls": tls, "port": server.port})
        outcome = send(tmp_path, Smtp(chosen, server.context), chosen)

    assert outcome.sent == [A, B]
    assert [envelope.rcpt_tos for envelope in server.taken] == [[A], [B]]
    assert record(tmp_path) == [("handing", A), ("sent", A), ("handing", B), ("sent", B)]
    for envelope in server.taken:
        message = email.message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        assert message["Subject"] == LETTER.subject
        assert message["To"] == envelope.rcpt_tos[0]
        assert str(message.get_body(("plain",)).get_content()).splitlines() == ["text"]


def test_the_same_week_is_never_sent_twice(tmp_path: Path) -> None:
    """Whatever the case of the address; another week, and somebody new, get theirs."""
    with serving() as server:
        chosen = BASE.model_copy(update={"port": server.port})
        post = Smtp(chosen, server.context)
        send(tmp_path, post, chosen)
        more = chosen.model_copy(update={"to": ("A@example.com", B, "c@example.com")})
        again = send(tmp_path, post, more)
        sending.send(sending.record(tmp_path), replace(LETTER, week="2026-W03"), chosen, post=post, clock=lambda: NOON)

    assert (again.sent, again.already) == (["c@example.com"], ["A@example.com", B])
    assert [envelope.rcpt_tos[0] for envelope in server.taken] == [A, B, "c@example.com", A, B]


@pytest.mark.parametrize("answer", ["450 mailbox busy", "550 5.7.1 relay access denied"])
def test_a_failed_sending_is_repeated_for_those_it_failed_for(tmp_path: Path, answer: str) -> None:
    with serving() as server:
        chosen = BASE.model_copy(update={"port": server.port})
        server.refused[A] = answer
        first = send(tmp_path, Smtp(chosen, server.context), chosen)
        server.refused.clear()
        second = send(tmp_path, Smtp(chosen, server.context), chosen)

    assert first.sent == [B]
    assert answer[4:] in first.failed[A]
    assert (second.sent, second.already, second.is_good) == ([A], [B], True)
    assert [envelope.rcpt_tos for envelope in server.taken] == [[B], [A]]


def test_an_address_that_the_server_does_not_know_fails_once(tmp_path: Path) -> None:
    """The others have the week; the next calls name the address, and try it again with `again` or in another week."""
    with serving() as server:
        chosen = BASE.model_copy(update={"port": server.port})
        post = Smtp(chosen, server.context)
        server.refused[A] = "550 5.1.1 no such user"
        first, second = (send(tmp_path, post, chosen) for _ in "12")
        server.refused.clear()
        third, fourth = (send(tmp_path, post, chosen, again=again) for again in (False, True))

    assert (first.sent, first.is_good) == ([B], False)
    assert [line.partition(": ")[0] for line in weekly_steps.lines(first)][1:] == [
        "failed; when it is mended, `chipledger mail --week 2026-W02 --again` sends it"
    ]
    assert (second.rejected, second.failed, second.is_good) == ([A], {}, True)
    assert [*weekly_steps.lines(second)][1:] == [f"refused for good, and not tried again without --again: {A}"]
    assert (third.rejected, fourth.sent, fourth.already) == ([A], [A], [B])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"password": SecretStr("other")}, "535 5.7.8 Authentication credentials invalid"),
        ({"tls": "none", "user": ""}, "530 5.7.0 Authentication required"),
    ],
    ids=["password", "no TLS"],
)
def test_what_the_server_refuses_fails_and_says_why(tmp_path: Path, wrong: dict[str, object], told: str) -> None:
    with serving() as server:
        chosen = BASE.model_copy(update=dict(port=server.port, **wrong))
        outcome = send(tmp_path, Smtp(chosen, server.context), chosen)

    assert outcome.failed[A] == told
    assert not server.taken
    assert "secret" not in (tmp_path / "mail.jsonl").read_text()


def test_a_server_that_nobody_vouches_for_gets_nothing(tmp_path: Path) -> None:
    """A certificate is verified, and a server without TLS is not given the password."""
    with serving() as server, serving(tls="none") as plain:
        for port, told in ((server.port, "certificate verify failed"), (plain.port, "STARTTLS")):
            chosen = BASE.model_copy(update={"port": port})
            assert told in send(tmp_path, Smtp(chosen), chosen).failed[A]

    assert not server.taken + plain.taken


def test_nobody_there_is_a_failure(tmp_path: Path) -> None:
    outcome = send(tmp_path, Smtp(BASE.model_copy(update={"port": 9})))

    assert set(outcome.failed) == {A, B}
    assert {kind for kind, _ in record(tmp_path)} == {"failed"}


# --- what is not known


class Breaks:
    """A way that breaks off: before the content leaves, or after."""

    def __init__(self, error: BaseException, *, late: bool) -> None:
        self.error, self.late, self.asked = error, late, 0

    def hand_over(self, message: EmailMessage, *, sender: str, to: str, before: Callable[[], None]) -> None:
        self.asked += 1
        if self.late:
            before()
        raise self.error


def test_what_may_have_arrived_is_sent_again_only_on_demand(tmp_path: Path) -> None:
    """The connection broke after the content: a failure once, named each time, not repeated; `again` repeats it."""
    first = send(tmp_path, Breaks(Uncertain(), late=True))
    silent = Breaks(Uncertain(), late=True)
    second = send(tmp_path, silent)
    with serving() as server:
        chosen = BASE.model_copy(update={"port": server.port})
        third = send(tmp_path, Smtp(chosen, server.context), chosen, again=True)

    assert first.uncertain == second.uncertain == [A, B]
    assert (first.is_good, second.is_good) == (False, True)
    assert silent.asked == 0
    assert third.sent == [A, B]


def test_a_process_killed_while_sending_leaves_it_uncertain(tmp_path: Path) -> None:
    """Killed after the content left: uncertain. Killed before: sent by the next call."""
    with pytest.raises(KeyboardInterrupt):
        send(tmp_path, Breaks(KeyboardInterrupt(), late=True), BASE.model_copy(update={"to": (A,)}))
    with pytest.raises(KeyboardInterrupt):
        send(tmp_path, Breaks(KeyboardInterrupt(), late=False), BASE.model_copy(update={"to": (B,)}))
    with serving() as server:
        chosen = BASE.model_copy(update={"port": server.port})
        outcome = send(tmp_path, Smtp(chosen, server.context), chosen)

    assert (outcome.uncertain, outcome.sent, outcome.is_good) == ([A], [B], False)


def test_a_connection_that_breaks_after_the_content_is_uncertain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: smtplib.SMTP, message: bytes) -> tuple[int, bytes]:
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr(smtplib.SMTP, "data", broken)
    with serving() as server:
        chosen = BASE.model_copy(update={"port": server.port, "to": (A,)})
        outcome = send(tmp_path, Smtp(chosen, server.context), chosen)

    assert outcome.uncertain == [A]
    assert record(tmp_path) == [("handing", A), ("uncertain", A)]


def test_a_torn_line_of_the_record_is_closed(tmp_path: Path) -> None:
    """What a crash left of a line is no entry, and the next line is whole."""
    send(tmp_path, Breaks(Refused("no"), late=False), BASE.model_copy(update={"to": (A,)}))
    whole = (tmp_path / "mail.jsonl").read_bytes()
    (tmp_path / "mail.jsonl").write_bytes(whole + whole[:40])
    send(tmp_path, Breaks(Refused("no"), late=False), BASE.model_copy(update={"to": (A,)}))

    assert (tmp_path / "mail.jsonl").read_bytes() == whole + whole[:40] + b"\n" + whole


def test_a_record_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mail.jsonl").write_text('{"kind": "sent"}\n')

    with pytest.raises(ChipledgerError, match="unreadable line"):
        send(tmp_path, Breaks(Refused("no"), late=False))


def test_two_processes_do_not_send_at_once(tmp_path: Path) -> None:
    held = Lines(path=tmp_path / sending.RECORD, needed=()).locked(who="sends mail")
    with held, pytest.raises(WriterBusy, match="another process sends mail"):
        send(tmp_path, Breaks(Refused("no"), late=False))


# --- SES


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x"), ("CONFIG_FILE", str(tmp_path / "none"))):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.mark.usefixtures("credentials")
def test_ses_takes_the_message_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call for each recipient with the whole message; a refusal fails, an error of the server is uncertain."""
    from botocore.stub import Stubber

    post = sending.Ses(BASE.model_copy(update={"transport": "ses", "region": "eu-west-1"}))
    client = post.client()
    assert client.meta.config.retries["total_max_attempts"] == 1
    monkeypatch.setattr(sending.Ses, "client", lambda self: client)
    with Stubber(client) as stub:
        for to in (A, B):
            sent = sending.letters.message(LETTER, sender=BASE.sender, to=to, at=NOON)
            stub.add_response(
                "send_email", {"MessageId": "1"},
                {"FromEmailAddress": BASE.sender, "Destination": {"ToAddresses": [to]}, "Content": Like(sent)},
            )  # fmt: skip
        stub.add_client_error("send_email", "MessageRejected", "not verified", http_status_code=400)
        stub.add_client_error("send_email", "InternalFailure", "oh", http_status_code=500)
        good = send(tmp_path / "1", post)
        bad = send(tmp_path / "2", post)
        stub.assert_no_pending_responses()

    assert good.sent == [A, B]
    assert "not verified" in bad.failed[A]
    assert bad.uncertain == [B]


class Like:
    """Equal to a raw message with the same headers; boundaries are random."""

    def __init__(self, message: EmailMessage) -> None:
        self.expected = {name: str(value) for name, value in message.items() if name != "Content-Type"}

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, dict)
        seen = email.message_from_bytes(other["Raw"]["Data"], policy=policy.default)
        return self.expected == {name: str(value) for name, value in seen.items() if name != "Content-Type"}

    __hash__ = None


def test_ses_without_a_region_or_credentials_fails_and_may_be_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

    assert "region" in send(tmp_path, sending.Ses(BASE.model_copy(update={"transport": "ses"}))).failed[A]
