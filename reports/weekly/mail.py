"""The weekly mail as a message: one for each recipient, text and HTML, with headers that say what it is.

Headers are built by the standard library's policy for SMTP, which refuses a line break in any of them; what comes from
outside has lost its control characters before. Message-ID is a function of week and recipient, so that a message that
was sent twice after all is recognised as one.
"""

import hashlib
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from reports.weekly import mail_html, mail_text, pages, sections
from reports.weekly.facts import WeekFacts

LOG = logging.getLogger(__name__)

MOST_PICTURES = 1


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart as PNG, as large again as it is shown, so that it is sharp: its file name, and what it says in words."""

    name: str
    words: str
    png: bytes

    @property
    def content_id(self) -> str:
        """Return what the HTML part calls it by: a function of what it shows."""
        return f"{hashlib.sha256(self.png).hexdigest()[:20]}@chipledger"


@dataclass(frozen=True, kw_only=True)
class Letter:
    """The parts of a week's mail that all recipients share; `faults` are the sections that could not be made."""

    week: str
    subject: str
    text: str
    html: str
    pictures: tuple[Picture, ...] = ()
    faults: tuple[str, ...] = ()


def letter(found: WeekFacts, *, page_url: str = "", draw: bool = True) -> Letter:
    """Return a week's mail; without `draw` it has no chart."""
    made = sections.brief(found)
    shown = pictures(found) if draw else ()
    return Letter(
        week=str(found.week),
        subject=made.subject,
        text=mail_text.render(found, made, page=page_url or pages.place(found.week, known_then=found.known_then)),
        html=mail_html.render(
            found, made, page_url=page_url, pictures=[(picture.content_id, picture.words) for picture in shown]
        ),
        pictures=shown,
        faults=made.faults,
    )


def pictures(found: WeekFacts) -> tuple[Picture, ...]:
    """Return the chart of what moved most; a week in which no list price moved has none."""
    try:
        if not found.lists.height:
            return ()
        # What draws them takes a second to start, which a quiet week need not pay.
        from reports.charts import style
        from reports.weekly import charts as week_charts
        from reports.weekly import palette

        drawn = week_charts.drawings(found, most=MOST_PICTURES)
        return tuple(
            Picture(name=f"{found.week}-{number}.png", words=each.finding, png=palette.reduced(style.png(each)))
            for number, each in enumerate(drawn, start=1)
        )
    except Exception:  # a mail without its chart says the same in words
        LOG.warning("the chart of %s could not be drawn", found.week, exc_info=True)
        return ()


def message(written: Letter, *, sender: str, to: str, reply_to: str = "", at: datetime) -> EmailMessage:
    """Return the message to one recipient; addresses are plain ones, name@domain. Raises ValueError for others."""
    made = EmailMessage(policy=policy.SMTP)
    origin = Address(addr_spec=sender)
    made["From"] = Address("chipledger", addr_spec=sender)
    made["To"] = Address(addr_spec=to)
    if reply_to:
        made["Reply-To"] = Address(addr_spec=reply_to)
    made["Subject"] = header(written.subject)
    made["Date"] = format_datetime(at.astimezone(UTC))
    made["Message-ID"] = message_id(written.week, to, origin.domain)
    made["List-Id"] = f"chipledger weekly <weekly.chipledger.{origin.domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(written.text, cte="quoted-printable")
    made.add_alternative(written.html, subtype="html", cte="quoted-printable")
    for page in made.iter_parts():
        if page.get_content_type() == "text/html":
            for picture in written.pictures:
                cid = f"<{picture.content_id}>"
                page.add_related(picture.png, "image", "png", cid=cid, filename=picture.name, disposition="inline")
    return made


def header(text: str) -> str:
    """Return a text for a header, on one line, in which no encoded word (RFC 2047) is found.

    The library decodes such words where a header is set, and takes a line end in one for the end of the header.
    """
    return " ".join(text.split()).replace("=?", "= ?")


def message_id(week: str, to: str, domain: str) -> str:
    """Return the Message-ID of a week's mail to one recipient."""
    who = hashlib.sha256(f"{week} {to.lower()}".encode()).hexdigest()[:20]
    return f"<{week}.{who}@{domain}>"
