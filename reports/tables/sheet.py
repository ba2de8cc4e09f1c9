"""Tables of a page: one way from a frame of texts to great-tables, and from there to clean HTML.

great-tables writes 10 kB of light-only CSS and long `headers` lists for every table. The page has one sheet for all its
tables instead, dark and print included, and marks head cells with `scope`, so both are cut.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape

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
_NUMBER_CELL = re.compile(r'<td class="gt_right">(.*?)</td>', re.DOTALL)
_NUMBER = re.compile(r"[-\N{MINUS SIGN}]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
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

    `right` are columns of numbers, by which a reader can sort. `marked` are columns whose cells are our own HTML; all
    other text is escaped. `picks` are columns of few values, of which a reader can pick one.
    """

    heads: Mapping[str, str]
    stub: str
    group: str | None = None
    right: Sequence[str] = ()
    marked: Sequence[str] = field(default_factory=tuple)
    picks: Sequence[str] = ()


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
    heads = {
        name: f"<span data-pick>{head}</span>" if name in form.picks else head for name, head in form.heads.items()
    }
    columns = [*([form.group] if form.group else []), *form.heads]
    gt = (
        GT(frame.select(columns), id=id, rowname_col=form.stub, groupname_col=form.group)
        .tab_header(title=title, subtitle=subtitle)
        .tab_stubhead(html(heads[form.stub]))
        .cols_label({name: html(head) for name, head in heads.items() if name != form.stub})
        .cols_align("left")
        .cols_align("right", columns=list(form.right))
        .fmt(str, columns=[name for name in form.marked if name in form.heads])
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
    text = re.sub(r"\n\s*", "\n", _NUMBER_CELL.sub(_with_value, text)).strip()
    return (
        f'<div class="frame" id="{made.id}" role="region" tabindex="0" aria-labelledby="{made.id}-caption">\n'
        f"{text}\n</div>"
    )


def _with_value(cell: re.Match[str]) -> str:
    """Return a cell of numbers with the one it begins with as a value to sort by; as it is where that is its text."""
    shown = unescape(re.sub(r"<[^>]+>", "", re.split(r"<(?:small|sup)\b", cell[1])[0]))
    found = _NUMBER.search(shown)
    if found is None or found[0] == cell[1]:
        return cell[0]
    value = found[0].replace(",", "").replace("\N{MINUS SIGN}", "-")
    return f'<td class="gt_right" data-value="{value}">{cell[1]}</td>'


def small(text: str | None) -> str:
    """Return text from outside as small print, escaped; empty where there is none."""
    return f"<small>{escape(text)}</small>" if text else ""


def document_link(sha256: str | None) -> str:
    """Return a link to a document in the list at the end of the page."""
    return f'<a href="#d-{sha256[:12]}">{sha256[:8]}</a>' if sha256 else "\N{EN DASH}"
