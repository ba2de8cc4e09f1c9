"""Alerts on their way: a real HTTP server behind Apprise, a real SMTP server, and secrets that stay where they are."""

import json
import logging
import socket
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from alert_file import write
from click.testing import CliRunner
from looks import day

from flows.alerts import after_run, channels
from flows.alerts.findings import Message
from flows.cli.main import main
from flows.collect import steps
from flows.collect.summary import Summary
from flows.config.settings import CHAT_ADDRESSES, read
from flows.mail.sending import Refused, Uncertain
from warehouse.errors import SettingsError
from warehouse.log.parsed import ScopeResult

SECRET = "s3cr3t-t0ken"
ROSE = (2.5, "H100", 2.39, 2.89)
TOLD = Message(kind="chip", title="chipledger: new chip: B300", text="- B300\n\nNo more.", ids=("B300",))


class Hook:
    """An HTTP server on loopback that keeps what it is sent, and answers with a status, or hangs up (None)."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.status: int | None = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if outer.status is None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *given: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"json://me:{SECRET}@127.0.0.1:{self.server.server_port}/{SECRET}/?+X-Key={SECRET}"


@pytest.fixture
def hook() -> Iterator[Hook]:
    """Return a running hook."""
    made = Hook()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Box:
    """An SMTP server's handler that keeps what it is sent."""

    def __init__(self) -> None:
        self.taken: list[tuple[list[str], bytes]] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.taken.append((envelope.rcpt_tos, envelope.content))
        return "250 taken"


@pytest.fixture
def box() -> Iterator[tuple[Box, int]]:
    """Return a running mail server's handler and its port."""
    made = Box()
    controller = Controller(made, hostname="127.0.0.1", port=0)
    controller._trigger_server = lambda: socket.create_connection(controller.server.sockets[0].getsockname()).close()
    controller.start()
    yield made, controller.server.sockets[0].getsockname()[1]
    controller.stop()


def test_a_day_of_alerts_reaches_mail_and_chat(
    tmp_path: Path, hook: Hook, box: tuple[Box, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command, twice: one message each; a refusal of the chat alone is made good by the next call."""
    taken, port = box
    monkeypatch.setenv(CHAT_ADDRESSES, f"  {hook.url}\n")
    settings = tmp_path / "chipledger.toml"
    settings.write_text(
        '[alerts]\nto = ["a@example.com"]\nkinds = ["move"]\n'
        '[mail]\nfrom = "prices@example.com"\nreply_to = "b@example.com"\nhost = "localhost"\n'
        f'port = {port}\ntls = "none"\n'
    )

    def alert() -> tuple[int, dict[str, Any]]:
        given = ["--settings", str(settings), "--data-dir", str(tmp_path), "alert", "--json"]
        done = CliRunner().invoke(main, given)
        assert SECRET not in done.output
        return done.exit_code, json.loads(done.output)

    write(tmp_path, 2)
    assert alert()[1]["baseline"] == ["move"]
    write(tmp_path, 3, moves=[ROSE], provider="[x](https://evil.example)<b>@all")
    hook.status = 503
    code, made = alert()
    (chat,) = made["failed"]
    assert (code, made["failed"]) == (1, {chat: "the service answered 503"})
    hook.status = 200
    assert alert() == (0, {"baseline": [], "failed": {}, "sent": {chat: [made["sent"]["mail:a@example.com"][0]]},
                           "uncertain": {}})  # fmt: skip
    assert alert()[1]["sent"] == {}

    assert len(hook.bodies) == 2
    ((to, content),) = taken.taken
    got = message_from_bytes(content, policy=policy.SMTP)
    assert (to, got["Subject"]) == (["a@example.com"], "chipledger: 1 list price moved by 5 % or more")
    first = "- ?x?(https?/evil.example)?b??all, H100, on-demand: 2.39 to 2.89 USD per chip-hour, +20.9 %, seen "
    assert got.get_content().startswith(first)
    assert hook.bodies[-1]["message"].startswith(first)
    assert hook.bodies[-1]["title"] == got["Subject"]
    assert SECRET not in (tmp_path / "alerts.jsonl").read_text()


@pytest.mark.parametrize(("status", "error"), [(500, Refused), (404, Refused), (None, Uncertain)])
def test_what_a_service_answers(
    hook: Hook, status: int | None, error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    """A refusal may be sent again; where the connection broke after the message had left, it may have arrived."""
    caplog.set_level(logging.DEBUG)
    hook.status = status
    with pytest.raises(error) as raised:
        channels.chat(hook.url, number=1).send(TOLD, at=day(1), before=lambda: None)
    assert SECRET not in str(raised.value)
    assert SECRET not in caplog.text
    assert not [record for record in caplog.records if record.name == "apprise"]


def test_a_service_that_is_not_there_is_told_again() -> None:
    """Nothing was handed over."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"json://127.0.0.1:{unused.getsockname()[1]}/"
        with pytest.raises(Refused, match="not reached"):
            channels.chat(url, number=1).send(TOLD, at=day(1), before=lambda: None)


@pytest.mark.parametrize("url", [f"nosuch://{SECRET}", f"slack://{SECRET}", SECRET, f"json://{SECRET}:port:/"])
def test_an_address_that_is_none_is_named_by_its_place(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Second in the list, without what stands in it."""
    with pytest.raises(SettingsError, match="address 2 is none") as error:
        channels.chat(url, number=2)
    assert SECRET not in json.dumps(error.value.as_dict()) + caplog.text


def test_after_a_run_a_failure_is_a_warning_without_a_secret(
    tmp_path: Path, hook: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    """The settings file may be empty: the variable is enough. A wrong address, or no [mail], stops no other channel."""
    wrong = read(data_dir=tmp_path, environ={CHAT_ADDRESSES: f"{hook.url} nosuch://{SECRET}"})
    settings = wrong.replace(alerts={"to": ["a@example.com"]})
    write(tmp_path, 2)
    assert not after_run.alert(settings, clock=lambda: day(2))
    write(tmp_path, 3, moves=[ROSE])
    hook.status = 500
    assert not after_run.alert(settings, clock=lambda: day(3))
    for name in ("json:", f"{CHAT_ADDRESSES}, 2: address 2 is none", "mail:a@example.com: mail is not set up"):
        assert f"failed; the next run tries again: {name}" in caplog.text
    assert len(hook.bodies) == 1
    assert SECRET not in caplog.text


@pytest.mark.parametrize("is_sent", [True, False])
def test_the_heartbeat_is_called_where_alerts_are_sent(monkeypatch: pytest.MonkeyPatch, is_sent: bool) -> None:
    """A password that was changed would be noticed by nobody: the run is good, and the mail that says so is late."""
    result = ScopeResult(source="ecb_rates", scope="all", observed_at=day(0), status="ok")
    called = list[object]()
    monkeypatch.setattr(steps, "run", lambda *_, **__: Summary(run_id="r", started_at=day(0), results=[result]))
    monkeypatch.setattr(after_run, "alert", lambda *_, **__: is_sent)
    monkeypatch.setattr(after_run, "call_heartbeat", called.append)

    assert CliRunner().invoke(main, ["run"]).exit_code == 0
    assert len(called) == is_sent
