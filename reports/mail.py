"""The weekly mail as a message: one for each recipient, text and HTML, with headers that say what it is.

Headers are built by the standard library's policy for SMTP, which refuses a line break in any of them; what comes from
outside has lost its control characters before. Message-ID is a function of week and recipient, so that a message that
was sent twice after all is recognised as one.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from reports import mail_html, mail_text, weekly_news
from reports.weekly_facts import WeekFacts


@dataclass(frozen=True, kw_only=True)
class Letter:
    """The parts of a week's mail that all recipients share."""

    week: str
    subject: str
    text: str
    html: str


def letter(found: WeekFacts, *, least: float, page_url: str = "") -> Letter:
    """Return a week's mail; moves smaller than `least` are counted, not told."""
    subject = weekly_news.subject(found, least=least)
    return Letter(
        week=str(found.week),
        subject=subject,
        text=mail_text.render(found, least=least, page_url=page_url),
        html=mail_html.render(found, subject=subject, least=least, page_url=page_url),
    )


def message(written: Letter, *, sender: str, to: str, reply_to: str = "", at: datetime) -> EmailMessage:
    """Return the message to one recipient; addresses are plain ones, name@domain. Raises ValueError for others."""
    made = EmailMessage(policy=policy.SMTP)
    origin = Address(addr_spec=sender)
    made["From"] = Address("chipledger", addr_spec=sender)
    made["To"] = Address(addr_spec=to)
    if reply_to:
        made["Reply-To"] = Address(addr_spec=reply_to)
    made["Subject"] = written.subject
    made["Date"] = format_datetime(at.astimezone(UTC))
    made["Message-ID"] = message_id(written.week, to, origin.domain)
    made["List-Id"] = f"chipledger weekly <weekly.chipledger.{origin.domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(written.text, cte="quoted-printable")
    made.add_alternative(written.html, subtype="html", cte="quoted-printable")
    return made


def message_id(week: str, to: str, domain: str) -> str:
    """Return the Message-ID of a week's mail to one recipient."""
    who = hashlib.sha256(f"{week} {to.lower()}".encode()).hexdigest()[:20]
    return f"<{week}.{who}@{domain}>"
