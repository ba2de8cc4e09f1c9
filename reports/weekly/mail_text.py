"""The plain-text part of the weekly mail: complete on its own, 72 columns wide, the same sections as the HTML part."""

import textwrap
from collections.abc import Iterator

from reports import wording
from reports.weekly import sections
from reports.weekly.facts import WeekFacts
from reports.weekly.sections import Brief, Section, Table

WIDTH = 72
INDENT = "  "
MOST_NAME = 34
"""Columns of a table for what a row is of."""
MOST_HEAD = 10
"""Columns of a head of numbers, beyond which it goes on in the next line."""


def render(found: WeekFacts, made: Brief, *, page: str) -> str:
    """Return the text; `page` is the address or the name of the week's page."""
    parts = [
        _wrapped(sections.opening(found), ""),
        *(_section(each) for each in made.sections),
        f"All moves, documents and SQL:\n{page}",
        _wrapped(sections.closing(found), ""),
    ]
    return "\n\n".join(parts) + "\n"


def _section(each: Section) -> str:
    lines = [each.title.upper()]
    if each.fault:
        lines.append(_wrapped(f"This section could not be made: {each.fault}. The others are complete."))
    lines += [_wrapped(sentence) for sentence in each.sentences]
    if each.table and each.table.rows:
        lines += _labelled(each.table) if each.table.labelled else _columns(each.table)
    if each.note:
        lines.append(_wrapped(each.note))
    return "\n".join(lines)


def _wrapped(text: str, indent: str = INDENT) -> str:
    held = text.replace(" %", "\N{NO-BREAK SPACE}%")
    made = textwrap.fill(held, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    return made.replace("\N{NO-BREAK SPACE}", " ")


def _columns(table: Table) -> Iterator[str]:
    """Yield a table as columns, its heads above the numbers."""
    heads = [textwrap.wrap(head, MOST_HEAD) for head in table.heads[1:]]
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


def _labelled(table: Table) -> Iterator[str]:
    """Yield a table with its heads before the numbers, what is unknown left out."""
    wide = min(max(len(row[0].text) for row in table.rows), MOST_NAME) + 2
    for row in table.rows:
        cells = [
            " ".join((head, cell.text, *cell.notes)).replace(" ", "\N{NO-BREAK SPACE}")
            for head, cell in zip(table.heads[1:], row[1:], strict=True)
            if cell.text != wording.UNKNOWN
        ]
        name = f"{INDENT}{wording.short(row[0].text, most=MOST_NAME):<{wide}}"
        text = textwrap.fill(
            " | ".join(cells), WIDTH, initial_indent=name, subsequent_indent=" " * len(name), break_on_hyphens=False
        )
        yield text.replace("\N{NO-BREAK SPACE}", " ")
