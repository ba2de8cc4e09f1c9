"""Tables of a page: great-tables lays out heads and notes, a template writes the cells.

great-tables passes each cell through a data frame by itself, which takes longer than all else of a page; so it gets the
columns alone. Text is escaped where it is written; what is HTML already comes from a template or chart, as Markup.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import polars as pl
from great_tables import GT, html
from markupsafe import Markup, escape

from reports import wording
from reports.queries import Row
from reports.templating import macro, render

_NUMBER = re.compile(r"[-\N{MINUS SIGN}]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
_LAYOUT = re.compile(
    r' (?:id="[^"]*"|class="gt_col_heading[^"]*(?<!gt_right)"|(?:row|col)span="1")'
    r"|gt_col_heading gt_columns_bottom_border (?=gt_right)"
)
"""What great-tables writes into heads that no page uses: a page of all regions is a tenth lighter without."""
_UNDERSCORE = re.compile(r"_(?![^<]*>)")
"""Not in a tag."""
_SMALL_PRINT = re.compile("<small|<sup")


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, in which a line end breaks the line, and what it shows of a row.

    `cell` is the name of a field, or a function of the row; it gives a text, Markup, a number to be counted in, or None
    for what is unknown. `right` is a column of numbers, by which a reader can sort, and `pick` one of few values, of
    which a reader can pick one. `spanner` stands above neighbours. `why` gives the footnote of a cell, None where it
    has none; where it is a text, it explains each dash.
    """

    head: str
    cell: str | Callable[[Row], str | int | None]
    right: bool = False
    pick: bool = False
    spanner: str = ""
    why: str | Callable[[Row], str | None] = ""

    def shown(self, row: Row) -> str:
        """Return the cell of a row."""
        value = row[self.cell] if isinstance(self.cell, str) else self.cell(row)
        return wording.UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else value

    def reason(self, row: Row, shown: str) -> str | None:
        """Return the footnote of a row's cell."""
        if isinstance(self.why, str):
            return self.why if self.why and shown == wording.UNKNOWN else None
        return self.why(row)


Number = partial(Column, right=True)
"""A column of numbers."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a page: a title that states the finding, a subtitle with scope and date; its first column names rows.

    `group` is the field, or gives the group, that rows stand under. In `note`, what stands between backticks is
    code. The id is fixed: the same rows give the same bytes.
    """

    id: str
    title: str
    subtitle: str = ""
    rows: Sequence[Row]
    columns: Sequence[Column]
    group: str | Callable[[Row], str] | None = None
    note: str = ""

    def __html__(self) -> str:
        """Return a table as HTML: a caption, a frame that scrolls by itself and by keyboard, no style of its own."""
        reasons: dict[str, int] = {}
        groups: dict[object, list[Row]] = {}
        stub, *others = self.columns
        for row in self.rows:
            group = row[self.group] if isinstance(self.group, str) else self.group(row) if self.group else None
            groups.setdefault(group, []).append(row)
        bodies = [
            (group, [(_breakable(stub.shown(row)), [_cell(each, row, reasons) for each in others]) for row in rows])
            for group, rows in groups.items()
        ]
        notes = [(self.note, 0)] if self.note else []
        spanners = [each.spanner for each in self.columns]
        firsts = (spanners.index(spanner) if spanner else None for spanner in spanners)
        head, foot = _layout(tuple(zip((each.right for each in self.columns), firsts, strict=True)))
        texts: dict[str, str] = {f"s{place}": spanner for place, spanner in enumerate(spanners)}
        texts |= {f"c{place}": _head(each.head, each.pick) for place, each in enumerate(self.columns)}
        rows = [foot.format(_note(text, number)) for text, number in (*notes, *reasons.items())]
        return render("table.html.j2", table=self, head=head.format(**texts), notes=rows, groups=bodies)


def _breakable(text: str) -> Markup:
    """Return the head of a row, which a narrow screen may break after the underscores of a name."""
    return Markup(_UNDERSCORE.sub("_<wbr>", escape(text)))  # noqa: S704 (escaped)


def _cell(column: Column, row: Row, reasons: dict[str, int]) -> tuple[bool, str | None, str, int | None]:
    """Return whether a cell is a number, its value to sort by, what it shows, and the number of its footnote."""
    shown = column.shown(row)
    reason = column.reason(row, shown)
    mark = reasons.setdefault(reason, len(reasons) + 1) if reason else None
    return column.right, _value(shown) if column.right else None, shown, mark


def _value(shown: str) -> str | None:
    """Return the number that a cell begins with, to sort by; None where that is its whole text, or there is none."""
    text = _SMALL_PRINT.split(shown, maxsplit=1)[0]
    if isinstance(shown, Markup):
        text = Markup(text).striptags()  # noqa: S704 (only read)
    found = _NUMBER.search(text.replace("<", ""))  # the least that is shown is <0.1 %
    if found is None or found[0] == shown:
        return None
    return found[0].replace(",", "").replace("\N{MINUS SIGN}", "-")


@cache
def _layout(shape: tuple[tuple[bool, int | None], ...]) -> tuple[Markup, Markup]:
    """Return the head of a table and a row of its foot as great-tables writes them, with names in place of texts.

    It takes long, and many tables have the same. `shape` has of each column whether it is of numbers, and the place of
    the first under its spanner.
    """
    names = [f"c{place}" for place in range(len(shape))]
    labels: dict[str, Any] = {name: html(f"{{{name}}}") for name in names}
    gt = (
        GT(pl.DataFrame(schema=dict.fromkeys(names, pl.String)), rowname_col="c0")
        .tab_stubhead(labels.pop("c0"))
        .cols_label(labels)
        .cols_align("left")
        .cols_align("right", columns=[name for name, (is_right, _) in zip(names, shape, strict=True) if is_right])
        .tab_source_note(html("{}"))
    )
    for first in dict.fromkeys(first for _, first in shape if first is not None):
        under = [name for name, (_, spanner) in zip(names, shape, strict=True) if spanner == first]
        gt = gt.tab_spanner(f"{{s{first}}}", columns=under)
    text = gt.as_raw_html()
    head, foot = (text[text.find(f"<{part}>") : text.rfind(f"</{part}>") + 8] for part in ("thead", "tfoot"))
    return Markup(_LAYOUT.sub("", head)), Markup(foot[7:-8])  # noqa: S704 (made by great-tables)


_head = macro("cells.html.j2", "head")
_note = macro("cells.html.j2", "note")
small = macro("cells.html.j2", "small")
span = macro("cells.html.j2", "span")
link = macro("cells.html.j2", "link")
outside = macro("cells.html.j2", "outside")
element = macro("cells.html.j2", "element")
arrow = macro("cells.html.j2", "arrow")


def to_html(table: Table) -> Markup:
    """Return a table as HTML now, where a failure of it can be met; templates do it when they come to it."""
    return Markup(table)  # noqa: S704 (made by its template)


def document_link(sha256: str | None) -> str:
    """Return a link to a document in the list at the end of the page; a dash where there is none."""
    return link(sha256[:8], f"#d-{sha256[:12]}") if sha256 else wording.UNKNOWN


def document(row: Row) -> str:
    """Return a link to the document of a row, with its source below."""
    return document_link(row["document_sha256"]) + small(row["source"])


def left_out(n: int, name: str, query: str = "", many: str = "") -> str:
    """Return how many of something a table leaves out, and the query that has all, as an end of its note."""
    if n <= 0:
        return ""
    return f" {wording.count(n, name, many)} left out{f': `{query}`' if query else ''}."
