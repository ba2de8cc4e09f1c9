"""Tables of a page: one way from a frame of texts to great-tables, and from there to clean HTML.

great-tables writes 10 kB of light-only CSS and long `headers` lists for every table. The page has one sheet for all its
tables instead, dark and print included, and marks head cells with `scope`, so both are cut.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import polars as pl
from great_tables import GT, html, loc

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_FRAME = re.compile(r'^<div id="([^"]+)" style="[^"]*">|</div>\s*$')
_HEADING = re.compile(
    r'\s*<tr class="gt_heading">\s*<td [^>]*?id="[^"]+-(title|subtitle)">(.*?)</td>\s*</tr>', re.DOTALL
)
_TABLE = re.compile(r'<table class="gt_table"\s*>')
_FOOT = re.compile(r'(<td class="gt_(?:footnote|sourcenote)"[^>]*>)(.*?)(</td>)', re.DOTALL)
_MARK = re.compile(r'<span class="gt_footnote_marks">([^<]*)</span>')
_CLASSES = re.compile(r' class="(?:gt_row |gt_col_heading |gt_columns_bottom_border )*(?:gt_left ?)?([^"]*)"')
"""Of a cell's classes ours needs those of numbers, stubs and groups; a page of all regions is a third lighter so."""
_NOISE = re.compile(
    r' (?:headers|data-quarto-[a-z-]+|aria-labelledby|aria-describedby)="[^"]*"| (?:row|col)span="1"'
    r'|(?<=gt_footnote_marks") style="[^"]*"|(?<=scope="col") id="[^"]*"|(?<=scope="row") id="[^"]*"'
    r'|(?<=scope="colgroup") id="[^"]*"'
)


@dataclass(frozen=True, kw_only=True)
class Footnote:
    """One footnote, and the cells of one column that it explains."""

    text: str
    column: str
    rows: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """One table of a page: great-tables' own value and what it is called by."""

    id: str
    gt: GT


@dataclass(frozen=True, kw_only=True)
class Form:
    """The form of a table: heads by column in order, the column that names a row, and the one that groups them.

    `right` are columns of numbers. `marked` are columns whose cells are our own HTML; all other text is escaped.
    """

    heads: Mapping[str, str]
    stub: str
    group: str | None = None
    right: Sequence[str] = ()
    marked: Sequence[str] = field(default_factory=tuple)


def sheet(
    frame: pl.DataFrame,
    form: Form,
    *,
    id: str,
    title: str,
    subtitle: str,
    footnotes: Sequence[Footnote] = (),
    note: str = "",
) -> Sheet:
    """Return the table of a frame of texts: a title that states the finding, a subtitle with scope and date.

    Heads may hold a <br>; `note` is our own HTML. The id is fixed, so that the same frame gives the same bytes.
    """
    columns = [*([form.group] if form.group else []), *form.heads]
    gt = (
        GT(frame.select(columns), id=id, rowname_col=form.stub, groupname_col=form.group)
        .tab_header(title=title, subtitle=subtitle)
        .tab_stubhead(html(form.heads[form.stub]))
        .cols_label({name: html(head) for name, head in form.heads.items() if name != form.stub})
        .cols_align("left")
        .cols_align("right", columns=list(form.right))
        .fmt(str, columns=list(form.marked))
    )
    for each in footnotes:
        if each.rows:
            gt = gt.tab_footnote(each.text, locations=loc.body(columns=each.column, rows=list(each.rows)))
    return Sheet(id=id, gt=gt.tab_source_note(html(note)) if note else gt)


def to_html(made: Sheet) -> str:
    """Return a table as clean HTML: a caption, a frame that scrolls by itself and by keyboard, no style of its own."""
    text = _STYLE.sub("", made.gt.as_raw_html())
    heading = dict(_HEADING.findall(text))
    text = _NOISE.sub("", _FRAME.sub("", _HEADING.sub("", text)))
    words = f"<strong>{heading['title']}</strong> {heading.get('subtitle', '')}".rstrip()
    caption = f'<caption id="{made.id}-caption"><div class="held">{words}</div></caption>'
    text = _MARK.sub(r"<sup>\1</sup>", _CLASSES.sub(r' class="\1"', text).replace(' class=""', ""))
    text = _TABLE.sub(f'<table class="gt_table">{caption}', text, count=1)
    text = _FOOT.sub(r'\1<div class="held">\2</div>\3', text)
    text = re.sub(r"\n\s*", "\n", text).strip()
    return (
        f'<div class="frame" id="{made.id}" role="region" tabindex="0" aria-labelledby="{made.id}-caption">\n'
        f"{text}\n</div>"
    )


def small(text: str | None) -> str:
    """Return text from outside as small print, escaped; empty where there is none."""
    return f"<small>{escape(text)}</small>" if text else ""


def document_link(sha256: str | None) -> str:
    """Return a link to a document in the list at the end of the page."""
    return f'<a href="#d-{sha256[:12]}">{sha256[:8]}</a>' if sha256 else "\N{EN DASH}"
