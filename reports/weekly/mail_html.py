"""The HTML part of the weekly mail: one column of 600 px, styles inlined, nothing to load, readable in dark mode.

A table of fixed width stands around it for Outlook on Windows, whose renderer knows no max-width. No image but the
chart that travels with the message, no script, no link but that to the page. Everything that is not ours is escaped.
"""

from collections.abc import Iterator, Sequence
from html import escape

import css_inline

from reports import wording
from reports.weekly import sections
from reports.weekly.facts import WeekFacts
from reports.weekly.sections import Brief, Cell, Section, Table

PICTURE_WIDTH = 444
"""In CSS pixels; the files have twice as many."""
MOST_BYTES = 100_000
"""Larger ones are clipped by some readers."""
LIGHT, DIM, LINE = "#1a1c20", "#565c66", "#d5d9e0"

STYLE = f"""
body {{ margin: 0; padding: 0; background-color: #ffffff; color: {LIGHT}; }}
.page {{ max-width: 600px; margin: 0 auto; padding: 8px 12px 24px; font-family: Arial, Helvetica, sans-serif;
  font-size: 15px; line-height: 1.45; background-color: #ffffff; color: {LIGHT}; }}
h1 {{ margin: 4px 0 10px; font-size: 21px; line-height: 1.25; }}
h2 {{ margin: 22px 0 6px; font-size: 16px; line-height: 1.3; border-bottom: 2px solid {LINE}; padding-bottom: 4px; }}
p {{ margin: 6px 0; }}
.data {{ width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }}
.data th {{ padding: 4px 6px 4px 0; text-align: left; vertical-align: bottom; color: {DIM}; font-size: 12px;
  font-weight: normal; border-bottom: 1px solid {LINE}; }}
.data td {{ padding: 5px 6px 5px 0; text-align: left; vertical-align: top; border-bottom: 1px solid {LINE}; }}
.data .n {{ text-align: right; padding-right: 0; padding-left: 12px; }}
.data small, .quiet {{ color: {DIM}; font-size: 12px; line-height: 1.35; word-break: break-word; }}
.data .name {{ white-space: nowrap; padding-right: 14px; }}
.item {{ white-space: nowrap; }}
.fault {{ padding: 6px 8px; background-color: #fdf1f0; color: {LIGHT}; }}
.fall {{ color: #0a5cb8; font-weight: bold; white-space: nowrap; }}
.rise {{ color: #a34100; font-weight: bold; white-space: nowrap; }}
.picture {{ margin: 14px 0 4px; }}
.picture img {{ display: block; width: 100%; max-width: {PICTURE_WIDTH}px; height: auto; border: 0;
  background-color: #ffffff; color: {LIGHT}; font-size: 14px; }}
.link {{ margin-top: 22px; }}
.link a {{ color: #0a5cb8; }}
.preheader {{ display: none; max-height: 0; overflow: hidden; mso-hide: all; }}
"""

DARK = """
@media (prefers-color-scheme: dark) {
  body, .page { background-color: #14161a !important; color: #e8eaee !important; }
  .data th, .data small, .quiet { color: #a6adb8 !important; }
  .data th, .data td, h2 { border-color: #363b44 !important; }
  .fault { background-color: #2b1a19 !important; color: #e8eaee !important; }
  .fall { color: #8ec2ff !important; }
  .rise { color: #ffb27a !important; }
  .link a { color: #8fbcff !important; }
}
@media (max-width: 480px) {
  .data { font-size: 13px !important; }
  .data th, .data small { font-size: 11px !important; }
  .data .n { padding-left: 8px !important; }
}
"""
"""Where a reader keeps styles in the head; where it does not, the inlined ones name both colours of every text."""

OUTLOOK = (
    '<!--[if mso]><table role="presentation" width="600" align="center" cellpadding="0" cellspacing="0" border="0">'
    "<tr><td><![endif]-->",
    "<!--[if mso]></td></tr></table><![endif]-->",
)


def render(found: WeekFacts, made: Brief, *, page_url: str = "", pictures: Sequence[tuple[str, str]] = ()) -> str:
    """Return the part.

    `pictures` are charts that travel with the message: the Content-ID of each, and what it says, which stands there
    where pictures are not shown. `page_url` is where the page of the week can be read.
    """
    body = [
        f'<div class="preheader">{escape(sections.preheader(made))}</div>',
        OUTLOOK[0],
        '<div class="page" role="article" aria-label="Weekly report" lang="en">',
        f'<p class="quiet">{escape(sections.opening(found))}</p>',
        f"<h1>{escape(made.subject)}</h1>",
        *(part for each in made.sections for part in _section(each, pictures if each.key == "moves" else ())),
        *([_link(page_url)] if page_url else []),
        f'<p class="quiet">{escape(sections.closing(found))}</p>',
        "</div>",
        OUTLOOK[1],
    ]
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{escape(made.subject)}</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>"
    )
    inlined = css_inline.CSSInliner(load_remote_stylesheets=False).inline(text)
    return inlined.replace("</head>", f"<style>{DARK}</style></head>", 1)


def _link(page_url: str) -> str:
    return f'<p class="link"><a href="{escape(page_url)}">All moves, documents and SQL of this week</a></p>'


def _section(each: Section, pictures: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield f"<h2>{escape(each.title)}</h2>"
    if each.fault:
        yield f'<p class="fault">This section could not be made: {escape(each.fault)}. The others are complete.</p>'
    for sentence in each.sentences:
        yield f"<p>{escape(sentence)}</p>"
    if each.table and each.table.rows:
        yield table(each.table)
    if each.note:
        yield f'<p class="quiet">{escape(each.note)}</p>'
    for cid, words in pictures:
        yield f'<p class="picture"><img src="cid:{escape(cid)}" alt="{escape(words)}" width="{PICTURE_WIDTH}"></p>'


def table(made: Table) -> str:
    """Return a table of a section, as HTML: of many columns one line for each row, which a phone can wrap."""
    if made.labelled:
        rows = "".join(
            f'<tr><td class="name">{escape(row[0].text)}</td><td>{_items(made.heads[1:], row[1:])}</td></tr>'
            for row in made.rows
        )
        return f'<table class="data"><tbody>{rows}</tbody></table>'
    mark = ["", *(' class="n"' for _ in made.heads[1:])]
    heads = "".join(f'<th scope="col"{kind}>{escape(h)}</th>' for h, kind in zip(made.heads, mark, strict=True))
    rows = "".join(
        f"<tr>{''.join(f'<td{kind}>{cell(each)}</td>' for each, kind in zip(row, mark, strict=True))}</tr>"
        for row in made.rows
    )
    return f'<table class="data"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _items(heads: Sequence[str], cells: Sequence[Cell]) -> str:
    """Return the numbers of a row, each with its head before it; what is unknown is left out."""
    items = []
    for head, each in zip(heads, cells, strict=True):
        if each.text != wording.UNKNOWN:
            notes = "".join(f" <small>{escape(note)}</small>" for note in each.notes)
            items.append(f'<span class="item"><small>{escape(head)}</small> <b>{escape(each.text)}</b></span>{notes}')
    return " | ".join(items)


def cell(each: Cell) -> str:
    """Return a cell with its small print below, as HTML."""
    text = escape(each.text)
    if each.tone:
        arrow = wording.FALL if each.tone == "fall" else wording.RISE
        text = f'<span class="{each.tone}">{arrow} {text}</span>'
    return text + "".join(f"<br><small>{escape(note)}</small>" for note in each.notes)
