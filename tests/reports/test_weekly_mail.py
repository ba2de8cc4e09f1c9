"""The weekly mail: what its parts hold, how wide and how large they are, and that headers cannot be injected."""

import email
import re
from dataclasses import replace
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage

import polars as pl
import pytest
import weekly_file
from weekly_file import HOSTILE, Tags

from reports import mail, mail_text, weekly, weekly_page
from reports.weekly_calendar import Week
from reports.weekly_facts import WeekFacts
from reports.weekly_fleet import FleetNews

NOON = datetime(2026, 1, 12, 12, tzinfo=UTC)
LABELS = ["NEWS", "GAPS", "MOVED", "STAND", "TOKEN"]


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, WeekFacts]:
    file = weekly_file.weeks(tmp_path_factory)
    return {week: weekly.read(file, Week.parse(week)) for week in ("2026-W02", "2026-W03", "2026-W05", "2026-W06")}


def sent(found: WeekFacts, **others: str) -> EmailMessage:
    """Return the message as a reader has it: written, and parsed again."""
    made = mail.message(
        mail.letter(found, least=0.01, page_url="https://prices.example.com/weekly/x.html"),
        sender="prices@example.com", to="you@example.com", reply_to="me@example.com", at=NOON, **others,
    )  # fmt: skip
    parsed = email.message_from_bytes(made.as_bytes(), policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    assert not parsed.defects
    return parsed


def part(message: EmailMessage, kind: str) -> str:
    found = message.get_body((kind,))
    assert found is not None
    return str(found.get_content()).replace("\r\n", "\n")


def test_the_head_stands_in_the_first_ten_lines(weeks: dict[str, WeekFacts]) -> None:
    lines = part(sent(weeks["2026-W03"]), "plain").splitlines()
    head = lines[: lines.index("")]
    labels = [line[:7].strip() for line in head if line[:1].strip()]

    assert labels == LABELS
    assert len(head) <= 10
    assert lines[0].startswith("NEWS   AWS cut p5.48xlarge 25 % in us-east-1")
    assert "p5.48xlarge (H100 SXM) AWS 10.00 to 7.50, \N{MINUS SIGN}25.0 %" in "\n".join(lines[:10])


def test_a_move_says_of_what_its_amounts_are(weeks: dict[str, WeekFacts]) -> None:
    """Per chip where chips are known, though it is the machine that is named: eight chips cost eight times that."""
    text = " ".join(part(sent(weeks["2026-W03"]), "plain").split())
    assert "AWS, on-demand; USD per hour a chip;" in text


@pytest.mark.parametrize("week", ["2026-W02", "2026-W03", "2026-W05", "2026-W06"])
def test_sizes(weeks: dict[str, WeekFacts], week: str) -> None:
    """Text at most 72 columns wide, HTML less than 100 kB, no line of the message longer than RFC 5322 allows."""
    message = sent(weeks[week])

    assert max(map(len, part(message, "plain").splitlines())) <= 72
    assert len(part(message, "html").encode()) < 100_000
    assert max(map(len, message.as_bytes().splitlines())) <= 998


def test_a_large_week_stays_below_the_limit_and_says_what_is_left_out(weeks: dict[str, WeekFacts]) -> None:
    """Four thousand moves, and more providers than fit: fewer rows, and the rest counted."""
    found = weeks["2026-W03"]
    large = replace(
        found,
        moves=pl.concat([found.lists] * 2000),
        checked=pl.concat([found.checked] * 100).with_columns(
            service_provider_name=pl.concat_str("service_provider_name", pl.lit("<" * 100))
        ),
    )
    message = sent(large)

    assert len(part(message, "html").encode()) < 100_000
    assert re.search(r"3,9\d\d more on the page", part(message, "html"))
    assert f"{large.moves.height - 25:,} more on the page" in part(message, "plain")
    assert max(map(len, part(message, "plain").splitlines())) <= 72


def test_a_quiet_week_is_three_lines_and_what_was_checked(weeks: dict[str, WeekFacts]) -> None:
    head, table, _ = part(sent(weeks["2026-W05"]), "plain").split("\n\n")

    assert [line[:7].strip() for line in head.splitlines()] == ["NEWS", "GAPS", "STAND"]
    assert table.startswith("CHECKED")
    assert "Moved" not in part(sent(weeks["2026-W05"]), "html")


def test_headers_say_what_it_is(weeks: dict[str, WeekFacts]) -> None:
    message = sent(weeks["2026-W03"])

    assert message["From"] == "chipledger <prices@example.com>"
    assert (message["To"], message["Reply-To"]) == ("you@example.com", "me@example.com")
    assert len(message["Subject"]) < 70
    assert message["Date"].datetime == NOON
    assert re.fullmatch(r"<2026-W03\.[0-9a-f]{20}@example\.com>", message["Message-ID"])
    assert message["List-Id"] == "chipledger weekly <weekly.chipledger.example.com>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_content_type() == "multipart/alternative"


def test_the_message_id_is_of_week_and_recipient() -> None:
    """The same twice, another for another week or person, whatever the case of the address."""
    assert mail.message_id("2026-W02", "you@x.org", "x.org") == mail.message_id("2026-W02", "You@x.org", "x.org")
    ids = {mail.message_id(week, to, "x.org") for week in ("2026-W02", "2026-W03") for to in ("a@x.org", "b@x.org")}
    assert len(ids) == 4


def test_words_from_outside_are_text_in_both_parts(weeks: dict[str, WeekFacts]) -> None:
    """The hostile provider raised its price by 10 %: it is news, and only words."""
    moved = weeks["2026-W03"].moves
    alone = replace(weeks["2026-W03"], moves=moved.filter(pl.col("service_provider_name") == HOSTILE))
    message = sent(alone)
    tags = Tags(part(message, "html"))
    seen = "".join(tags.words)

    assert not {tag for tag, _ in tags.seen} & {"script", "svg", "iframe"}
    assert {str(each["src"])[:4] for tag, each in tags.seen if tag == "img"} <= {"cid:"}
    assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]
    assert '<script>alert(1)</script>"><img src=x onerror=alert(1)>=cmd()' in seen
    assert "<script>alert(1)</script>" in part(message, "plain")
    assert message["Subject"].startswith("<script>alert(1)</script>")
    assert [name for name in message.keys() if name.lower() == "bcc"] == []  # noqa: SIM118 (headers are no dictionary)
    assert not any(line.startswith("Bcc") for line in part(message, "plain").splitlines())


def test_no_line_break_begins_a_header(weeks: dict[str, WeekFacts]) -> None:
    """An address with one is refused; a subject, which may hold a provider's words, stays one line."""
    written = mail.letter(weeks["2026-W02"], least=0.01)
    for broken in ("a@example.com\r\nBcc: b@example.com", "a@example.com, b@example.com", "a@exa mple.com"):
        with pytest.raises(ValueError, match=r"."):
            mail.message(written, sender="prices@example.com", to=broken, at=NOON)
    for subject in ("news\nBcc: b@example.com", "news\r\nBcc: b@example.com", "=?utf-8?q?news=0ABcc:b@example.com?="):
        told = mail.message(
            replace(written, subject=subject), sender="a@example.com", to="b@example.com", at=NOON
        )  # fmt: skip
        assert "bcc" not in {name.lower() for name in told.keys()}  # noqa: SIM118 (headers are no dictionary)
        assert not any(line.lower().startswith(b"bcc") for line in told.as_bytes().split(b"\n\n")[0].splitlines())


def test_the_html_part_loads_nothing_and_keeps_its_styles(weeks: dict[str, WeekFacts]) -> None:
    """One column, styles inlined and for dark mode, both colours named, links to the site alone; its pictures came with
    it.
    """
    text = part(sent(weeks["2026-W03"]), "html")

    assert not {tag for tag, _ in Tags(text).seen} & {"svg", "script", "link", "iframe"}
    assert not re.search(r"url\(|@import", text)
    assert re.findall(r'src="([^@"]+)', text)
    assert not re.search(r'src="(?!cid:[0-9a-f]{20}@chipledger")', text)
    assert set(re.findall(r'href="([^"]+)"', text)) == {"https://prices.example.com/weekly/x.html"}
    assert "prefers-color-scheme: dark" in text
    assert re.search(r'<body style="[^"]*background-color: #ffffff[^"]*color: #1a1c20', text)
    assert re.search(r'class="page"[^>]*style="[^"]*max-width: 600px', text)


def test_a_number_is_never_cut() -> None:
    """What does not fit is left out word by word, and counted."""
    text = mail_text.fitted("MOVED", ["H100 PCIe RunPod secure 2.39 to 2.89, +20.9 % " * 3, "another"], lines=1)

    assert len(text) <= 72
    assert text == "MOVED  H100 PCIe RunPod secure 2.39 to 2.89, +20.9... 1 more below" or text.endswith(
        "... 1 more below"
    )
    assert set(re.findall(r"\d+\.\d+", text)) <= {"2.39", "2.89", "20.9"}


@pytest.mark.parametrize("week", ["2026-W03", "2026-W06"])
def test_what_a_fleet_is_told_is_in_the_mail_alone(weeks: dict[str, WeekFacts], week: str) -> None:
    """YOU and DO in the first ten lines of the text, in the HTML, and not on the page; of a quiet week, too."""
    news = FleetNews(you=("+300 USD a month at list", "b " * 60), due=("serving ends 2026-03-01", HOSTILE))
    found = replace(weeks[week], fleet=news)
    message = sent(found)
    lines = part(message, "plain").splitlines()
    assert [line[:7].strip() for line in lines[:10] if line[:4] in ("YOU ", "DO  ")] == ["YOU", "DO"]
    assert any(line.startswith("YOU    +300 USD a month at list") for line in lines[:10])
    assert max(map(len, lines)) <= 72
    html = part(message, "html")
    assert "serving ends 2026-03-01" in html
    assert "script" not in {tag for tag, _ in Tags(html).seen}
    assert "+300 USD" not in weekly_page.render(found)
