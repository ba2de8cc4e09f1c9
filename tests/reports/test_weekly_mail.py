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
from weekly_file import HOSTILE, Tags, with_frames

from reports.weekly import mail, page
from reports.weekly.facts import WeekFacts
from reports.weekly.fleet import FleetNews

NOON = datetime(2026, 1, 12, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, WeekFacts]:
    return {week: weekly_file.told(tmp_path_factory, week) for week in ("2026-W02", "2026-W03", "2026-W05", "2026-W06")}


def sent(found: WeekFacts, **others: str) -> EmailMessage:
    """Return the message as a reader has it: written, and parsed again."""
    made = mail.message(
        mail.letter(found, page_url="https://prices.example.com/weeks/x.html"),
        sender="prices@example.com", to="you@example.com", reply_to="me@example.com", at=NOON, **others,
    )  # fmt: skip
    parsed = email.message_from_bytes(mail.as_bytes(made), policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    assert not parsed.defects
    return parsed


def part(message: EmailMessage, kind: str) -> str:
    found = message.get_body((kind,))
    assert found is not None
    return str(found.get_content()).replace("\r\n", "\n")


def test_the_parts_have_the_same_sections_in_their_order(weeks: dict[str, WeekFacts]) -> None:
    """Titles in words, none without something below it; what happened comes first."""
    message = sent(weeks["2026-W03"])
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", part(message, "html"))
    lines = part(message, "plain").splitlines()

    assert "https://prices.example.com/weeks/x.html" in lines
    assert "All moves" not in mail.letter(weeks["2026-W03"], draw=False).text  # without an address no line leads to one
    assert titles == [
        "What happened",
        "Biggest moves",
        "Also this week",
        "Cheapest now, by way to buy",
        "What we could not see",
    ]
    heads = [i for i, line in enumerate(lines) if line.isupper() and not line.startswith(" ")]
    assert [lines[i] for i in heads] == [title.upper() for title in titles]
    assert all(lines[i + 1].startswith("  ") for i in heads)
    assert "AWS cut H100 SXM from 10.00 to 7.50 USD per chip-hour (\N{MINUS SIGN}25.0 %): 14,600 USD less a month" in (
        " ".join(part(message, "plain").split())
    )


def test_a_price_that_was_taken_back_is_what_we_got_wrong(tmp_path_factory: pytest.TempPathFactory) -> None:
    """RunPod's H200 rose in W03 and was back in W04: W04 says so, and no mail counts it as a move."""
    found = weekly_file.told(tmp_path_factory, "2026-W04")
    text = " ".join(part(sent(found), "plain").split())

    assert "H200 SXM at RunPod: 5.00 USD of 17 Jan was a mistake; 4.00 again on 20 Jan." in text
    assert "H200 SXM, RunPod" not in text


@pytest.mark.parametrize("week", ["2026-W02", "2026-W03", "2026-W05", "2026-W06"])
def test_sizes(weeks: dict[str, WeekFacts], week: str) -> None:
    """Text at most 72 columns wide, HTML less than 100 kB, no line of the message longer than RFC 5322 allows."""
    message = sent(weeks[week])

    assert max(map(len, part(message, "plain").splitlines())) <= 72
    assert len(part(message, "html").encode()) < 100_000
    assert max(map(len, message.as_bytes().splitlines())) <= 998


def test_a_long_subject_is_on_the_line_of_its_name() -> None:
    """Some readers show a subject that begins on the next line as none."""
    subject = "AWS raised " + "H100 " * 13
    made = mail.new_message(subject, "x", sender="a@example.com", to="b@example.com", reply_to="", at=NOON, kind="x")
    assert f"\r\nSubject: {subject.strip()}\r\n" in mail.as_bytes(made).decode()


def test_a_large_week_stays_short(weeks: dict[str, WeekFacts]) -> None:
    """Two thousand moves and as many providers not seen: five moves, four names, the rest counted."""
    found = weeks["2026-W03"]
    name = pl.lit("<" * 300)
    unseen = found["checked"].head(1).with_columns(n_checked=pl.lit(0, pl.Int64), service_provider_name=name)
    checked = pl.concat([found["checked"], *[unseen] * 2000])
    large = with_frames(found, move=pl.concat([found.lists] * 2000), checked=checked)
    n = 2000 + found["checked"].filter(pl.col("n_checked") == 0).height
    message = sent(large)

    assert len(part(message, "html").encode()) < 40_000
    assert f"{n:,} providers not seen" in part(message, "html")
    assert f"{n - 4:,} more" in part(message, "html")
    assert max(map(len, part(message, "plain").splitlines())) <= 72


def test_the_whole_message_is_small(weeks: dict[str, WeekFacts]) -> None:
    """At most 150 kB with its chart."""
    message = sent(weeks["2026-W03"])

    assert [each.get_content_type() for each in message.walk()].count("image/png") == 1
    assert len(message.as_bytes()) < 150_000


def test_a_quiet_week_has_no_moves(weeks: dict[str, WeekFacts]) -> None:
    message = sent(weeks["2026-W05"])
    lines = part(message, "plain").splitlines()

    assert message["Subject"] == "No change, 11 prices checked; 2 scopes not read"
    assert "BIGGEST MOVES" not in lines
    assert "  No list price of your chips moved; 11 prices of 4 providers were" in lines
    assert "Biggest moves" not in part(message, "html")


def test_outlook_has_a_table_of_600_px(weeks: dict[str, WeekFacts]) -> None:
    """Its renderer knows no max-width; others do not see the table."""
    text = part(sent(weeks["2026-W03"]), "html")
    begin, end = (text.index(f"<!--[if mso]>{tag}") for tag in ("<table", "</td>"))

    assert re.match(r'<!--\[if mso\]><table [^>]*width="600"[^>]*><tr><td><!\[endif\]-->', text[begin:])
    assert begin < text.index('class="page"') < text.index("<h1") < end
    assert text[end:].startswith("<!--[if mso]></td></tr></table><![endif]-->")


def test_headers_say_what_it_is(weeks: dict[str, WeekFacts]) -> None:
    message = sent(weeks["2026-W03"])

    assert message["From"] == "chipledger <prices@example.com>"
    assert (message["To"], message["Reply-To"]) == ("you@example.com", "me@example.com")
    assert len(message["Subject"]) <= 78
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
    found = weeks["2026-W03"]
    hostile = pl.col("service_provider_name") == HOSTILE
    alone = with_frames(found, move=found["move"].filter(hostile), biggest=found["biggest"].filter(hostile))
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
    written = mail.letter(weeks["2026-W02"])
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
    assert set(re.findall(r'href="([^"]+)"', text)) == {"https://prices.example.com/weeks/x.html"}
    assert "prefers-color-scheme: dark" in text
    assert re.search(r'<body style="[^"]*background-color: #ffffff[^"]*color: #1a1c20', text)
    assert re.search(r'class="page"[^>]*style="[^"]*max-width: 600px', text)


@pytest.mark.parametrize("week", ["2026-W03", "2026-W06"])
def test_what_a_fleet_is_told_is_in_the_mail_alone(weeks: dict[str, WeekFacts], week: str) -> None:
    """In both parts, under their titles, and not on the page; of a quiet week, too."""
    news = FleetNews(you=("+300 USD a month at list", "b " * 60), due=("serving ends 2026-03-01", HOSTILE))
    found = replace(weeks[week], fleet=news)
    message = sent(found)
    lines = part(message, "plain").splitlines()

    assert lines[lines.index("YOUR FLEET") + 1] == "  +300 USD a month at list."
    assert lines[lines.index("COMMITMENTS THAT END SOON") + 1] == "  Serving ends 2026-03-01."
    assert max(map(len, lines)) <= 72
    html = part(message, "html")
    assert "Serving ends 2026-03-01" in html
    assert "script" not in {tag for tag, _ in Tags(html).seen}
    assert "+300 USD" not in page.render(weeks[week]).text
