"""Secrets stand in nothing that a run prints, logs or keeps, whatever servers say back."""

import base64
import http.server
import json
import logging
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import canaries
import pytest
from click.testing import CliRunner
from pydantic import SecretStr
from web_site import open_site, send

from flows.alerts import after_run
from flows.cli.main import main
from flows.config import settings
from flows.config.settings import MailSettings, Settings
from flows.doctor.services import mails
from flows.mail import sending
from flows.shared import redact
from flows.shared.output import LineFormatter
from warehouse.errors import HIDDEN, SettingsError

ROOT = Path(__file__).parents[2]


class Parrot(http.server.BaseHTTPRequestHandler):
    """Refuses all with 500, and says back what it was told: the path, and each header, in the reason and the body."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self.send_error(404)
            return
        said = f"{self.path} {' '.join(self.headers.values())}"
        body = f"{said} {base64.b64encode(said.encode()).decode()}".encode()
        self.send_response(500, said.replace("\n", " "))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the name that the server looks for

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def parrot() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Parrot) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in canaries.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.chdir(tmp_path)


def test_the_search_finds_what_is_there() -> None:
    """In each form; and nothing where nothing is."""
    for text in (
        canaries.PASSWORD.encode(),
        b"x?p=canary-Pa55%2Fword%2B1",
        base64.b64encode(b"\0me\0" + canaries.PASSWORD.encode()),
        base64.urlsafe_b64encode(b"user:" + canaries.PASSWORD.encode()),
    ):
        assert canaries.found_in([text]) != []
    assert canaries.found_in([b"nothing"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "refused: {}", "https://x.test/?k={}", "https://x.test/{quoted}/y", "AUTH PLAIN {plain}", "Basic {basic}",
        "LOUD {upper}",
    ],
)  # fmt: skip
def test_secrets_are_taken_out_however_they_are_written(text: str) -> None:
    environ = canaries.ENVIRONMENT
    for word in (canaries.PASSWORD, canaries.TOKEN, "canaryAlertPw", "canaryDbPassword", "canaryCatalogue0123"):
        said = text.format(
            word, quoted=word.replace("/", "%2F").replace("+", "%2B"), upper=word.upper(),
            plain=base64.b64encode(f"\0me\0{word}".encode()).decode(),
            basic=base64.b64encode(f"me:{word}".encode()).decode(),
        )  # fmt: skip
        shown = redact.hide(said, environ=environ)
        assert HIDDEN in shown
        assert canaries.found_in([shown.encode(), shown.lower().encode()]) == []
        assert word.lower() not in shown.lower()
    assert redact.hide("us-east-1 p5.48xlarge 98.32", environ=environ) == "us-east-1 p5.48xlarge 98.32"


def test_the_key_of_a_new_provider_is_a_secret_by_its_name() -> None:
    """No list names it; a variable that only holds such a word, and a list of hosts, are none."""
    environ = {"NEWCLOUD_API_KEY": "canary-0123456789", "TOKENS_PER_DAY": "1000000", "NO_PROXY": "internal.example.com"}
    said = "refused canary-0123456789, 1000000 at internal.example.com"
    assert redact.hide(said, environ=environ) == f"refused {HIDDEN}, 1000000 at internal.example.com"


@pytest.mark.usefixtures("secrets", "quick")
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_commands_that_fail_tell_no_secret(
    parrot: str, tmp_path: Path, form: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Servers that refuse and repeat what they were sent: nothing is printed, journalled or kept of it."""
    data = tmp_path / "data"
    (tmp_path / "chipledger.toml").write_text(
        "".join(f'[sources.{name}]\nenabled = true\nurl = "{parrot}"\n' for name in ("shadeform", "jarvislabs"))
        + '[mail]\nfrom = "a@example.com"\nto = ["b@example.com"]\nhost = "127.0.0.1"\nport = 9\nuser = "me"\n'
    )
    called = [("sources",), ("settings",), ("doctor", "--offline")]
    called += [("collect", "--source", "shadeform", "--source", "jarvislabs"), ("mail",), ("alert",), ("query", "x")]
    said = []
    for words in called:
        result = CliRunner().invoke(main, ["-v", "--data-dir", str(data), *words, *form])
        said += [result.stdout.encode(), result.stderr.encode(), repr(result.exception).encode()]
    assert (data / "landing/journal.jsonl").read_text().count('"failure"') == 2
    assert canaries.found_in([*said, *canaries.written_below(data)]) == []
    # Handlers of others hear the records, too.
    assert canaries.found_in([caplog.text.encode()]) == []


def test_a_heartbeat_that_fails_names_its_host_alone(
    parrot: str, quick: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its address is the secret: from a file, or a variable. One that takes a call and never answers is left soon."""
    address = f"{parrot}/ping/{canaries.TOKEN}?key={canaries.PASSWORD}"
    after_run.call_heartbeat(Settings(heartbeat_url=address))
    assert "heartbeat: 127.0.0.1 refused it: the server answered 500" in caplog.text
    assert canaries.found_in([caplog.text.encode()]) == []
    caplog.clear()
    with open_site() as site:
        site.answers["/"] = [send(status=204)]
        after_run.call_heartbeat(Settings(heartbeat_url=f"{site.url}/"))
    assert caplog.text == ""
    monkeypatch.setattr(after_run, "HEARTBEAT_WAIT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        after_run.call_heartbeat(Settings(heartbeat_url=f"http://127.0.0.1:{silent.getsockname()[1]}/"))
    assert "heartbeat: 127.0.0.1 refused it" in caplog.text


class EchoingSmtp(socketserver.StreamRequestHandler):
    """Refuses the password, and repeats the line with it."""

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            if line.upper().startswith(b"EHLO"):
                self.wfile.write(b"250-here\r\n250 AUTH PLAIN\r\n")
            elif line.upper().startswith(b"QUIT"):
                self.wfile.write(b"221 bye\r\n")
                return
            else:
                self.wfile.write(b"535 5.7.8 not you: " + line)


def test_a_mail_server_that_repeats_the_password_is_not_repeated(tmp_path: Path) -> None:
    """In the record, in the outcome, and by the doctor."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), EchoingSmtp) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chosen = MailSettings(
            sender="a@example.com", to=("b@example.com",), host="127.0.0.1", port=server.server_address[1], tls="none",
            user="me", password=SecretStr(canaries.PASSWORD),
        )  # fmt: skip
        with pytest.raises(sending.Refused) as refused:
            sending.Smtp(chosen).hand_over(EmailMessage(), sender="a@b.c", to="d@e.f", before=lambda: None)
        table = {"from": "a@example.com", "to": ["b@example.com"], "host": "127.0.0.1", "port": chosen.port}
        rows = mails(Settings(mail=table | {"tls": "none", "user": "me"}, mail_password=canaries.PASSWORD))
        server.shutdown()
    assert "535" in str(refused.value)
    assert canaries.found_in([str(refused.value).encode(), str(rows).encode()]) == []
    assert refused.value.__cause__ is None


def test_lines_of_the_log_have_no_secret_and_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where an exception is logged with its traceback."""
    monkeypatch.setenv("SHADEFORM_API_KEY", "canaryShadeformKey0123")
    record = logging.LogRecord("x", 30, "f", 1, "%s\nERROR forged \x1b[2J", ("canaryShadeformKey0123",), None)
    assert LineFormatter("%(levelname)s %(message)s").format(record) == "WARNING (hidden)\n    ERROR forged \\x1b[2J"


@pytest.mark.parametrize(
    "address",
    [
        "https://me:canarySecret@mirror.example.com/", "https://mirror.example.com/?api_key=canarySecret",
        "https://mirror.example.com/?X-Amz-Signature=canarySecret",
    ],
)  # fmt: skip
def test_an_address_of_a_source_holds_no_secret(address: str) -> None:
    """It stands in the published file with each document: refused, and not repeated."""
    environ = {"CHIPLEDGER_SOURCES__VULTR__URL": address}
    with pytest.raises(SettingsError) as refused:
        settings.read(data_dir=Path("x"), environ=environ)
    assert "without user, password or key" in str(refused.value)
    assert "canarySecret" not in str(refused.value)


def test_an_unknown_setting_is_named_without_its_value() -> None:
    """It may be a secret under a misspelt name."""
    with pytest.raises(SettingsError) as refused:
        settings.read(data_dir=Path("x"), environ={"CHIPLEDGER_MAILPW": "canarySecret"})
    assert "canarySecret" not in str(refused.value) + json.dumps(refused.value.as_dict())


@pytest.mark.prove
def test_a_run_under_prefect_keeps_no_secret(tmp_path: Path) -> None:
    """Neither the server's database nor logs, artifacts, parameters, pages, nor the words of any process."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environ |= canaries.ENVIRONMENT | {"PREFECT_HOME": str(tmp_path / "prefect"), "DO_NOT_TRACK": "1"}
    # The server keeps a file of its own here; and without a server that was named, a key means nothing to Prefect.
    del environ["PREFECT_SERVER_DATABASE_CONNECTION_URL"], environ["PREFECT_API_KEY"]
    environ |= {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120", "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    (tmp_path / "prefect").mkdir()
    command = [sys.executable, str(ROOT / "flows/daily.py"), "--offline", "--data-dir", str(tmp_path / "data")]
    with (tmp_path / "said").open("wb") as said:
        run = subprocess.Popen(command, env=environ, cwd=tmp_path, stdout=said, stderr=said)
        words: set[bytes] = set()
        while run.poll() is None:
            for place in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words.add(place.read_bytes())
                except OSError:
                    continue
            time.sleep(0.2)
    assert run.returncode == 0, (tmp_path / "said").read_text()[-2000:]
    assert any(path.suffix == ".db" for path in (tmp_path / "prefect").rglob("*"))
    assert canaries.found_in([*words, *canaries.written_below(tmp_path)]) == []
