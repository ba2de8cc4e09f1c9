"""The doctor asks hosts, mail servers and Prefect as little as it takes, sends nothing, and shows no secret."""

import json
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mail_server import serving
from web_site import Site, open_site, send

from extract import SOURCES
from extract.web import certificates
from flows.cli.main import main
from flows.config.settings import PASSWORD, Settings
from flows.doctor import checks, services
from flows.doctor.row import Row
from flows.mail import sending

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
OFF = {source.name: {"enabled": False} for source in SOURCES}
GONE = "http://127.0.0.1:9"
MAIL = {"from": "prices@example.com", "to": ["a@example.com"], "reply_to": "me@example.com", "host": "localhost"}


@pytest.fixture
def site() -> Iterator[Site]:
    with open_site() as site:
        yield site


def dated(moment: datetime, status: int = 200) -> Callable[[BaseHTTPRequestHandler], None]:
    """Return an answer of a server whose clock shows a moment."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response_only(status)
        handler.send_header("Date", format_datetime(moment, usegmt=True))
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def reached(**on: dict[str, Any]) -> dict[str, Row]:
    """Return the lines of the network where these sources alone are on."""
    chosen = Settings(sources=OFF | {name: {"enabled": True, **table} for name, table in on.items()})
    rows = services.hosts(chosen, clock=lambda: NOW, progress=lambda message: None)
    return {str(row["check"]).removeprefix("network: "): row for row in rows}


# --- hosts and clock


def test_each_host_is_asked_once_for_its_robots(site: Site) -> None:
    """Whatever it says of it: an answer is an answer. What is asked of a page stays unasked."""
    site.answers["/robots.txt"] = [dated(NOW, 404)]
    rows = reached(vultr={"url": f"{site.url}/v2?page=s3cr3t"}, crusoe={"url": site.url}, verda={"url": GONE})

    assert {name: row["result"] for name, row in rows.items()} == {
        "vultr": "ok", "crusoe": "ok", "verda": "fail", "clock": "ok",
    }  # fmt: skip
    assert [asked.path for asked in site.asked] == ["/robots.txt"]
    assert rows["vultr"]["found"] == f"{site.url} answers"
    assert "[sources.verda]" in str(rows["verda"]["advice"])
    assert "s3cr3t" not in str(rows)


def test_a_server_that_fails_is_there(site: Site) -> None:
    """It is a warning that passes, not a network that is broken."""
    site.answers["/robots.txt"] = [send(status=503)]
    row = reached(vultr={"url": site.url})["vultr"]
    assert (row["result"], "503" in str(row["found"])) == ("warn", True)


def test_without_a_network_there_is_one_line() -> None:
    """Not one a source, which all say the same; of a single source its own line says what to do."""
    rows = reached(vultr={"url": GONE}, crusoe={"url": f"{GONE}/v1"})
    assert list(rows) == ["network", "clock"]
    assert (rows["network"]["result"], str(rows["network"]["found"]).split(", as ")[0]) == (
        "fail", "no host of 2 sources answers",
    )  # fmt: skip
    assert list(reached(vultr={"url": GONE})) == ["vultr", "clock"]


def test_a_source_of_two_hosts_wants_both(site: Site) -> None:
    site.answers["/robots.txt"] = [send(status=200)]
    feed = {"prices_url": f"{site.url}/spot.json", "advisor_url": f"{GONE}/advisor.json"}
    row = reached(aws_spot_feed=feed)["aws_spot_feed"]
    assert (row["result"], str(row["found"]).startswith(GONE)) == ("fail", True)


@pytest.mark.parametrize(
    ("ahead", "result", "found"),
    [
        (timedelta(seconds=1), "ok", "1 s behind 1 hosts"),
        (timedelta(seconds=-45), "warn", "45 s ahead of 1 hosts"),
        (timedelta(minutes=6), "fail", "360 s behind 1 hosts"),
    ],
)
def test_the_clock_is_compared_with_the_hosts(site: Site, ahead: timedelta, result: str, found: str) -> None:
    site.answers["/robots.txt"] = [dated(NOW + ahead)]
    row = reached(vultr={"url": site.url})["clock"]
    assert (row["result"], row["found"]) == (result, found)


def test_wrong_clocks_are_outvoted(site: Site) -> None:
    """And a host that names no time, or no date, has no vote."""
    site.answers["/robots.txt"] = [dated(NOW)]
    with open_site() as other, open_site() as wrong:
        other.answers["/robots.txt"] = [dated(NOW + timedelta(days=9))]
        wrong.answers["/robots.txt"] = [dated(NOW - timedelta(days=9))]
        row = reached(vultr={"url": site.url}, verda={"url": other.url}, crusoe={"url": wrong.url})["clock"]
    assert (row["result"], row["found"]) == ("ok", "0 s ahead of 3 hosts")
    assert reached(vultr={"url": GONE})["clock"]["result"] == "warn"
    assert services._ahead("yesterday", NOW) is None


def test_every_live_source_has_an_address_or_asks_an_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new one that has neither is seen here; gpuhunt is asked no more."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    live = [source for source in SOURCES if source.kind == "live"]
    none = {source.name for source in live if not services.addresses(source, {"access": "bulk"})}
    assert none == {"aws_spot", "aws_capacity_blocks", "aws_instance_types", "gpuhunt"}
    for source in SOURCES:
        assert all(url.startswith("https://") for url in services.addresses(source, {"access": "bulk"}))
    assert services.root("https://me:s3cr3t@proxy.example.com:8443/v2?k=s3cr3t") == "https://proxy.example.com:8443"


# --- mail


def told(context: ssl.SSLContext | None, port: int, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Row:
    """Return the line of mail where the server's own authority is trusted, or no other than the usual."""
    monkeypatch.setattr(certificates, "tls_context", lambda: context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    (row,) = services.mails(Settings(mail=MAIL | {"port": port, "user": "me"} | more, mail_password="secret"))
    return row


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
def test_the_mail_server_is_greeted_and_gets_no_message(tls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connection, TLS and password are right; nothing was handed over."""
    with serving(tls=tls) as server:
        row = told(server.context, server.port, monkeypatch, tls=tls)
        assert row["result"] == "ok", row
        assert "with TLS" in str(row["found"])
        assert "with password" in str(row["found"])
        assert server.taken == []


def test_what_is_wrong_with_mail_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with the setting to look at; no password in any."""
    with serving() as server:
        refused = told(server.context, server.port, monkeypatch, user="nobody")
        untrusted = told(None, server.port, monkeypatch)
    unreached = told(None, 9, monkeypatch)
    (unset,) = services.mails(Settings(mail=MAIL | {"user": "me"}))
    assert [row["result"] for row in (refused, untrusted, unreached, unset)] == ["fail"] * 4
    assert PASSWORD in str(refused["advice"])
    assert "password refused: 535 5.7.8 Authentication credentials invalid" in str(refused["found"])
    assert "CERTIFICATE_VERIFY_FAILED" in str(untrusted["found"])
    assert "ConnectionRefusedError" in str(unreached["found"])
    assert "without a password" in str(unset["found"])
    assert "secret" not in str((refused, untrusted, unreached, unset))
    (none,) = services.mails(Settings())
    assert (none["result"], none["found"]) == ("ok", "not set up")


@pytest.mark.parametrize(
    ("account", "result"),
    [
        ({"SendingEnabled": True, "ProductionAccessEnabled": True}, "ok"),
        ({"SendingEnabled": True, "ProductionAccessEnabled": False}, "warn"),
        ({"SendingEnabled": False}, "fail"),
    ],
)
def test_ses_says_whether_it_sends(account: dict[str, bool], result: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        def get_account(self) -> dict[str, bool]:
            return account

    monkeypatch.setattr(sending.Ses, "client", lambda self: Client())
    (row,) = services.mails(Settings(mail=MAIL | {"transport": "ses"}))
    assert row["result"] == result


# --- Prefect, alerts, heartbeat


def test_prefect_is_asked_only_where_one_is_named(site: Site) -> None:
    """With the credentials of the environment, which stand in no line; by what its server gives to nobody without."""
    assert services.prefect({}) == []
    site.answers["/api/health"] = [send(b"true", Content_Type="application/json")] * 2
    site.answers["/api/hello"] = [send(b'"hi"', Content_Type="application/json"), send(status=401)]
    environ = {"PREFECT_API_URL": f"{site.url}/api", "PREFECT_API_AUTH_STRING": "me:s3cr3t-word"}
    (good,) = services.prefect(environ)
    (refused,) = services.prefect(environ)
    (gone,) = services.prefect({"PREFECT_API_URL": f"{GONE}/api"})
    assert [row["result"] for row in (good, refused, gone)] == ["ok", "fail", "fail"]
    assert site.asked[0].headers["Authorization"] == "Basic bWU6czNjcjN0LXdvcmQ="
    assert "PREFECT_API_AUTH_STRING" in str(refused["advice"])
    assert "s3cr3t" not in str((good, refused, gone))


def test_alerts_are_counted_and_nobody_is_told() -> None:
    """By service, never by address; a wrong address and a missing [mail] are named."""
    urls = f"json://{GONE.removeprefix('http://')}/s3cr3t"
    (both,) = services.alerts(Settings(alerts={"to": ["a@example.com"]}, mail=MAIL, alert_urls=urls))
    (none,) = services.alerts(Settings())
    (no_mail,) = services.alerts(Settings(alerts={"to": ["a@example.com"]}))
    (unknown,) = services.alerts(Settings(alert_urls="nothing://s3cr3t"))
    assert (both["result"], both["found"]) == ("ok", "json, mail")
    assert (none["result"], none["found"]) == ("ok", "no recipient")
    assert [row["result"] for row in (no_mail, unknown)] == ["fail", "fail"]
    assert "s3cr3t" not in str((both, unknown))


def test_the_heartbeat_is_not_called(site: Site) -> None:
    """A call says that a run was good."""
    (set_,) = services.heartbeat(Settings(heartbeat_url=f"{site.url}/s3cr3t"))
    (unset,) = services.heartbeat(Settings())
    assert (set_["result"], unset["result"], site.asked) == ("ok", "warn", [])
    assert "s3cr3t" not in str(set_)


# --- the command


def test_offline_asks_nobody_and_says_so(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are looked at all the same; nothing that asks is called."""
    for name in ("services.hosts", "services.aws", "services.mails", "services.prefect"):
        monkeypatch.setattr(f"flows.doctor.{name}", None)
    rows = checks.all_checks(Settings(data_dir=tmp_path), offline=True, environ={})
    (said,) = [row for row in rows if row["check"] == "network"]
    assert "not checked" in str(said["found"])
    assert {"data directory", "disk", "published file", "heartbeat"} <= {row["check"] for row in rows}


def test_the_command_ends_with_1_where_something_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line has a result, and what is not ok says what to do; --json has the same."""
    monkeypatch.delenv("CHIPLEDGER_ALERT_URLS", raising=False)
    asked = ["--data-dir", str(tmp_path), "--settings", str(tmp_path / "chipledger.toml"), "doctor", "--offline"]
    (tmp_path / "chipledger.toml").write_text("")
    good = CliRunner().invoke(main, asked)
    assert good.exit_code == 0, good.output
    assert "\nwarn  heartbeat: none\n      -> Set heartbeat_url: " in good.stdout
    (tmp_path / "chipledger.toml").write_text('[alerts]\nto = ["a@example.com"]\n')
    bad = CliRunner().invoke(main, [*asked, "--json"])
    rows = json.loads(bad.stdout)
    assert bad.exit_code == 1
    assert [row["check"] for row in rows if row["result"] == "fail"] == ["alerts"]
    assert all(set(row) == {"check", "result", "found", "advice"} for row in rows)
    assert all(row["advice"] for row in rows if row["result"] != "ok")
