"""The weekly mail as a message: one for each recipient, text and HTML, with headers that say what it is.

Headers are built by the standard library's policy for SMTP, which refuses a line break in any of them; what comes from
outside has lost its control characters before. Message-ID is a function of week and recipient, so that a message that
was sent twice after all is recognised as one.
"""

import hashlib
import logging
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from importlib.resources import files

import css_inline

from reports import wording
from reports.charts import style
from reports.templating import render
from reports.weekly import charts as week_charts
from reports.weekly import sections
from reports.weekly.facts import WeekFacts
from reports.weekly.sections import Brief, Section, Table

LOG = logging.getLogger(__name__)

MAX_PICTURES = 1
WIDTH = 72
"""Columns of the plain-text part."""
INDENT = "  "
MAX_NAME = 34
"""Columns of a table for what a row is of."""
MAX_HEAD = 10
"""Columns of a head of numbers, beyond which it goes on in the next line."""
MAX_BYTES = 100_000
"""Of the HTML part; larger ones are clipped by some readers."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart as PNG, as large again as it is shown, so that it is sharp: its file name, what it says and shows."""

    name: str
    alt: str
    scope: str
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
    """Return a week's mail; without `draw` it has no chart. `page_url` is where the page of the week can be read."""
    made = sections.brief(found)
    shown = pictures(found) if draw else ()
    return Letter(
        week=str(found.week),
        subject=made.subject,
        text=text(found, made, page_url=page_url),
        html=html(found, made, page_url=page_url, pictures=shown),
        pictures=shown,
        faults=made.faults,
    )


def html(found: WeekFacts, made: Brief, *, page_url: str = "", pictures: Sequence[Picture] = ()) -> str:
    """Return the HTML part: styles inlined, those of dark mode in the head for readers that keep them."""
    page = render(
        "mail.html.j2",
        subject=made.subject,
        preheader=sections.preheader(made),
        opening=sections.opening(found),
        closing=sections.closing(found, in_mail=True),
        sections=made.sections,
        page_url=page_url,
        pictures=pictures,
    )
    inlined = css_inline.CSSInliner(load_remote_stylesheets=False).inline(page)
    # Of dark mode and phones; the inlined styles name both colours of every text.
    dark = (files("reports") / "templates" / "mail_dark.css").read_text(encoding="utf-8")
    return inlined.replace("</head>", f"<style>{dark}</style></head>", 1)


def pictures(found: WeekFacts) -> tuple[Picture, ...]:
    """Return the chart of what moved most; a week in which no list price moved has none."""
    try:
        drawn = week_charts.drawings(found, most=MAX_PICTURES)
        return tuple(
            Picture(name=f"{found.week}-{number}.png", alt=each.finding, scope=each.scope, png=style.png(each))
            for number, each in enumerate(drawn, start=1)
        )
    except Exception:  # a mail without its chart says the same in words
        LOG.warning("the chart of %s could not be drawn", found.week, exc_info=True)
        return ()


def message(written: Letter, *, sender: str, to: str, reply_to: str = "", at: datetime) -> EmailMessage:
    """Return the message to one recipient; addresses are plain ones, name@domain. Raises ValueError for others."""
    made = new_message(written.subject, written.text, sender=sender, to=to, reply_to=reply_to, at=at, kind="weekly")
    made["Message-ID"] = message_id(written.week, to, Address(addr_spec=sender).domain)
    made.add_alternative(written.html, subtype="html", cte="quoted-printable")
    for page in made.iter_parts():
        if page.get_content_type() == "text/html":
            for picture in written.pictures:
                cid = f"<{picture.content_id}>"
                page.add_related(picture.png, "image", "png", cid=cid, filename=picture.name, disposition="inline")
    return made


def new_message(
    subject: str, text: str, *, sender: str, to: str, reply_to: str, at: datetime, kind: str
) -> EmailMessage:
    """Return a message of plain text without a Message-ID; `kind` names its mailing list."""
    made = EmailMessage(policy=policy.SMTP)
    made["From"] = Address("chipledger", addr_spec=sender)
    made["To"] = Address(addr_spec=to)
    if reply_to:
        made["Reply-To"] = Address(addr_spec=reply_to)
    made["Subject"] = header(subject)
    made["Date"] = format_datetime(at.astimezone(UTC))
    made["List-Id"] = f"chipledger {kind} <{kind}.chipledger.{Address(addr_spec=sender).domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(text, cte="quoted-printable")
    return made


def as_bytes(message: EmailMessage) -> bytes:
    """Return a message as it is sent, a long subject on the line of its name: Python would leave that empty."""
    return message.as_bytes(policy=policy.SMTP.clone(max_line_length=100))


def header(text: str) -> str:
    """Return a text for a header, on one line, in which no encoded word (RFC 2047) is found.

    The library decodes such words where a header is set, and takes a line end in one for the end of the header.
    """
    return " ".join(text.split()).replace("=?", "= ?")


def message_id(week: str, to: str, domain: str) -> str:
    """Return the Message-ID of a week's mail to one recipient."""
    who = hashlib.sha256(f"{week} {to.lower()}".encode()).hexdigest()[:20]
    return f"<{week}.{who}@{domain}>"


# --- the plain-text part


def text(found: WeekFacts, made: Brief, *, page_url: str = "") -> str:
    """Return the plain-text part, complete on its own."""
    parts = [
        _wrapped(sections.opening(found), ""),
        *(_text_section(each) for each in made.sections),
        *([f"All moves, documents and SQL:\n{page_url}"] if page_url else []),
        _wrapped(sections.closing(found, in_mail=True), ""),
    ]
    return "\n\n".join(parts) + "\n"


def _text_section(each: Section) -> str:
    lines = [each.title.upper()]
    if each.fault:
        lines.append(_wrapped(f"This section could not be made: {each.fault}. The others are complete."))
    lines += [_wrapped(sentence) for sentence in each.sentences]
    if each.table and each.table.rows:
        lines += _text_labelled(each.table) if each.table.labelled else _text_columns(each.table)
    if each.note:
        lines.append(_wrapped(each.note))
    return "\n".join(lines)


def _wrapped(text: str, indent: str = INDENT) -> str:
    held = text.replace(" %", "\N{NO-BREAK SPACE}%")
    made = textwrap.fill(held, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return made.replace("\N{NO-BREAK SPACE}", " ")


def _text_columns(table: Table) -> Iterator[str]:
    """Yield a table as columns, its heads above the numbers."""
    heads = [textwrap.wrap(head, MAX_HEAD) for head in table.heads[1:]]
    widths = [
        max(len(text) for text in (*head, *(row[i].text for row in table.rows))) + 2
        for i, head in enumerate(heads, start=1)
    ]
    first = WIDTH - len(INDENT) - sum(widths)
    deep = max(map(len, heads))
    for n in range(deep):
        cells = ["" if n < deep - len(head) else head[n - deep + len(head)] for head in heads]
        yield f"{INDENT}{'':<{first}}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
    for row in table.rows:
        name = wording.short(", ".join((row[0].text, *row[0].notes)), most=first)
        numbers = "".join(f"{cell.text:>{w}}" for cell, w in zip(row[1:], widths, strict=True))
        yield f"{INDENT}{name:<{first}}{numbers}"


def _text_labelled(table: Table) -> Iterator[str]:
    """Yield a table with its heads before the numbers, what is unknown left out."""
    wide = min(max(len(row[0].text) for row in table.rows), MAX_NAME) + 2
    for row in table.rows:
        cells = [
            " ".join((head, cell.text, *cell.notes)).replace(" ", "\N{NO-BREAK SPACE}")
            for head, cell in zip(table.heads[1:], row[1:], strict=True)
            if cell.text != wording.UNKNOWN
        ]
        name = f"{INDENT}{wording.short(row[0].text, most=MAX_NAME):<{wide}}"
        text = textwrap.fill(
            " | ".join(cells), WIDTH, initial_indent=name, subsequent_indent=" " * len(name), break_on_hyphens=False
        )
        yield text.replace("\N{NO-BREAK SPACE}", " ")
