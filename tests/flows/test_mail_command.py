"""The command `mail`, and the mail of a week as it arrives: whole, small, and legible without pictures and styles."""

import email
import json
import os
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chromium import executable
from click.testing import CliRunner
from looks import day
from mail_server import serving
from playwright.sync_api import sync_playwright
from weekly_file import Tags, read_once, weeks

from flows.cli.main import main
from flows.config.settings import Settings
from flows.mail import weekly_steps
from flows.mail.sending import Smtp
from warehouse.errors import ChipledgerError, SettingsError

A = "a@example.com"
NOON = datetime(2026, 1, 12, 12, tzinfo=UTC)
GOOD = {"from": "prices@example.com", "to": [A], "reply_to": "me@example.com", "host": "localhost"}
OTHER = GOOD | {"to": ["other@example.com"]}
PNG = b"\x89PNG\r\n\x1a\n"

TOML = f'[mail]\nfrom = "p@example.com"\nto = ["{A}"]\nreply_to = "me@example.com"\nhost = "127.0.0.1"\n'


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the folder of the weeks, each of which is read once for all tests."""
    folder = tmp_path_factory.mktemp("weeks")
    with read_once(tmp_path_factory):
        yield shutil.copytree(weeks(tmp_path_factory).parent, folder, dirs_exist_ok=True)


def call(data_dir: Path, *words: str, toml: str = "") -> Any:
    settings = data_dir / "chipledger.toml"
    settings.write_text(toml)
    return CliRunner().invoke(main, ["--data-dir", str(data_dir), "--settings", str(settings), *words])


def test_a_dry_run_writes_a_message_and_sends_nothing(data_dir: Path) -> None:
    result = call(data_dir, "mail", "--dry-run", "--week", "2026-W03")
    message = email.message_from_bytes((data_dir / "mail" / "2026-W03.eml").read_bytes())

    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(data_dir / "mail" / "2026-W03.eml")
    assert message["Subject"].startswith("AWS cut H100 SXM 25 %")
    assert not (data_dir / "mail.jsonl").exists()


def test_a_mail_that_cannot_be_sent_yet_stops_no_run(data_dir: Path) -> None:
    """A user without his password, and nobody to reply to: the run writes its message all the same; `mail` says it."""
    mail = {"from": "p@example.com", "to": [A], "user": "me", "host": "localhost", "tls": "starttls"}
    settings = Settings(data_dir=data_dir, mail=mail)
    assert weekly_steps.after_run(settings, data_dir / "prices.duckdb", clock=lambda: NOON) == ()
    assert (
        email.message_from_bytes(max((data_dir / "mail").glob("*.eml"), key=os.path.getmtime).read_bytes())["To"] == A
    )
    with pytest.raises(SettingsError, match="must be set"):
        weekly_steps.send(settings, None, clock=lambda: NOON)


def test_a_week_is_written_again_from_what_was_known_then(data_dir: Path) -> None:
    now = call(data_dir, "report", "weekly", "--week", "2026-W03")
    then = json.loads(call(data_dir, "report", "weekly", "--week", "2026-W03", "--known-then", "--json").stdout)
    wrong = call(data_dir, "report", "weekly", "--week", "W3")

    assert now.stdout.strip().endswith("weeks/2026-W03.html")
    assert then["report"].endswith("weeks/2026-W03-known-then.html")
    assert (wrong.exit_code, "2025-W26" in wrong.stderr) == (2, True)


def test_mail_without_settings_says_where_they_are_told(data_dir: Path) -> None:
    result = call(data_dir, "mail")

    assert result.exit_code == 2
    assert "docs/mail.md" in result.stderr


def test_mail_sends_once_and_fails_loudly(data_dir: Path) -> None:
    """A real server without TLS on this machine: sent, then had already; a server that is gone gives exit code 1."""
    with serving(tls="none") as server:
        toml = f'{TOML}port = {server.port}\ntls = "none"\n'
        first = call(data_dir, "mail", "--week", "2026-W03", toml=toml)
        again = json.loads(call(data_dir, "mail", "--week", "2026-W03", "--json", toml=toml).stdout)
    gone = call(data_dir, "mail", "--week", "2026-W05", toml=toml)

    assert (first.exit_code, first.stdout) == (0, "2026-W03: 1 sent, 0 had it already\n")
    assert (again["sent"], again["already"]) == ([], [A])
    assert gone.exit_code == 1
    assert f"failed; when it is mended, `chipledger mail --week 2026-W05` sends it: {A}" in gone.stdout
    assert len(server.taken) == 1


def test_a_week_that_is_not_over_is_not_mailed(data_dir: Path) -> None:
    """It would be mailed half, and never again."""
    with pytest.raises(SettingsError, match="not over"):
        weekly_steps.send(Settings(data_dir=data_dir, mail=GOOD), "2026-W07", clock=lambda: day(46.3))


def test_a_week_before_the_first_fetch_is_left_out(data_dir: Path) -> None:
    """That nothing was read in it is no news: on its first day a new installation mailed that."""
    result = call(data_dir, "mail", "--week", "2026-W01", toml=TOML)

    assert (result.exit_code, result.stdout) == (
        0,
        "2026-W01: nothing was read in it: the first fetch was on 6 Jan\n",
    )


class Taker:
    """A way to hand messages over that keeps their subjects."""

    def __init__(self) -> None:
        self.subjects: list[str] = []

    def hand_over(self, message: EmailMessage, *, sender: str, to: str, before: Callable[[], None]) -> None:
        self.subjects.append(message["Subject"])


@pytest.mark.parametrize(
    ("at", "week"), [(46.3, "2026-W06"), (47.3, "2026-W07")], ids=["Monday", "Tuesday, published on a Thursday before"]
)
def test_a_week_in_which_nothing_was_read_is_mailed(data_dir: Path, tmp_path: Path, at: float, week: str) -> None:
    """Whatever [mail] says of quiet weeks: it is not known to be one. Where no run publishes, a day after its end."""
    settings, post = Settings(data_dir=data_dir, mail=GOOD | {"send_quiet": False}), Taker()
    written = weekly_steps.report(settings, None, clock=lambda: day(at))
    weekly_steps.mailed(settings.replace(data_dir=tmp_path), written, clock=lambda: day(at), post=post)

    assert post.subjects == [f"No price was confirmed in {week}: nothing was read"]


def test_a_clock_that_is_ahead_mails_no_week_of_the_future(data_dir: Path, tmp_path: Path) -> None:
    """Where the newest fetches were refused for it; not where they were good, or it was only ahead at times."""
    settings, post = Settings(data_dir=tmp_path, mail=GOOD), Taker()
    written = weekly_steps.report(settings.replace(data_dir=data_dir), None, clock=lambda: day(74))
    landing, look = settings.landing(), dict.fromkeys(("run_id", "source", "scope", "observed_at"), "x")
    ahead = "this machine's clock is 21 days, 0:00:00 ahead of the Date headers of the answers"
    send = partial(weekly_steps.mailed, settings, written, clock=lambda: day(74), post=post)

    landing.record("look", day(73), **look, documents=[])
    landing.record("look", day(73.5), **look, documents=[], refused=ahead)
    with pytest.raises(ChipledgerError, match=f"this machine's clock is wrong .*value {written.found.week}.*{ahead}"):
        send()
    assert post.subjects == []
    landing.record("look", day(73.6), **look, documents=[])
    landing.record("look", day(75), **look, documents=[], refused=ahead)  # as it was then, and is no more
    assert send().sent == [A]


def test_a_quiet_week_may_be_left_out(data_dir: Path) -> None:
    settings, post = Settings(data_dir=data_dir, mail=GOOD | {"send_quiet": False}), Taker()
    outcome = weekly_steps.mailed(settings, weekly_steps.report(settings, "2026-W05"), clock=lambda: NOON, post=post)

    assert list(weekly_steps.lines(outcome)) == ["2026-W05: a quiet week, which [mail] leaves out"]
    assert post.subjects == []


# --- as it arrives


@pytest.fixture(scope="module")
def received(data_dir: Path) -> EmailMessage:
    """Return the mail of W03 as a server took it, through TLS and with a password, parsed again."""
    with serving() as server:
        chosen = Settings(mail=OTHER | {"port": server.port, "user": "me"}, mail_password="secret").mail_to_send()
        settings = Settings(data_dir=data_dir, mail=OTHER)
        written = weekly_steps.report(settings, "2026-W03")
        outcome = weekly_steps.mailed(settings, written, clock=lambda: NOON, post=Smtp(chosen, server.context))
    assert outcome.sent == OTHER["to"]
    message = email.message_from_bytes(server.taken[0].content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def page_of(message: EmailMessage) -> str:
    body = message.get_body(("html",))
    assert body is not None
    return str(body.get_content())


def test_the_mail_arrives_whole_and_small(received: EmailMessage) -> None:
    """Text, then HTML with its charts; nothing is broken; a gateway takes it and a reader does not clip it."""
    kinds = [part.get_content_type() for part in received.walk()]

    assert not [defect for part in received.walk() for defect in part.defects]
    assert kinds[:4] == ["multipart/alternative", "text/plain", "multipart/related", "text/html"]
    assert kinds[4:] == ["image/png"]
    assert len(page_of(received).encode()) < 100_000
    assert len(received.as_bytes()) < 600_000


def test_each_chart_is_a_good_picture_that_the_page_calls_by_its_name(received: EmailMessage) -> None:
    images = [part for part in received.walk() if part.get_content_type() == "image/png"]
    shown = [dict(attributes) for tag, attributes in Tags(page_of(received)).seen if tag == "img"]

    assert [f"cid:{str(part['Content-ID']).strip('<>')}" for part in images] == [image["src"] for image in shown]
    assert [part.get_filename() for part in images] == ["2026-W03-1.png"]
    assert {part.get_content_disposition() for part in images} == {"inline"}
    for part, image in zip(images, shown, strict=True):
        data = part.get_content()
        assert data.startswith(PNG)
        assert data.endswith(b"IEND\xaeB`\x82")
        assert struct.unpack(">I", data[16:20])[0] == 2 * int(image["width"] or 0)
    assert str(shown[0]["alt"]).startswith("H100 SXM on-demand: AWS fell 25.0 % to 7.50; ")
    assert "stops where not read for 7 days or its source" in page_of(received)  # its lowest is not that of 90 days


def test_the_mail_is_legible_where_pictures_and_styles_are_blocked(received: EmailMessage) -> None:
    """The words of the charts stand in their place, all that was told is there, and on a phone nothing sticks out."""
    path = executable()
    text = page_of(received)
    bare = re.sub(r"<style>.*?</style>|(?: style| class)=\"[^\"]*\"", "", text, flags=re.DOTALL)
    (words,) = [str(dict(each)["alt"]) for tag, each in Tags(text).seen if tag == "img"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.route("**/*", lambda route: route.abort())
        for shown, width in ((text, 360), (bare, 600)):
            page.set_viewport_size({"width": width, "height": 700})
            page.set_content(shown, wait_until="domcontentloaded")
            seen = page.inner_text("body")

            assert page.evaluate("[...document.images].filter(image => image.naturalWidth).length") == 0
            assert words[:40] in page.locator("body").aria_snapshot()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for told in ("What happened", "AWS cut H100 SXM 25 %", "Biggest moves", "10.00", "7.50", "Cheapest"):
                assert told in seen
        browser.close()
