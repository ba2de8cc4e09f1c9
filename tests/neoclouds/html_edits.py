"""Edits of a page: of its elements, cells and columns, of its attributes and texts, and of its end."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from neoclouds.chips import CHIP, NEW_CHIP, NO_PRICE, another
from neoclouds.mutation import BLIND, HARM, HARMLESS, Edit, Parse, Row, keys
from neoclouds.spans import HEADINGS, Element, Spans, spliced

BLOCKS = "div|table|thead|tbody|tr|td|th|ul|ol|li|section|main|article|header|footer|nav|p|h[1-6]|aside|body"
BETWEEN_BLOCKS = re.compile(rf"(?<=>)(?=<(?:{BLOCKS})[\s>])", re.IGNORECASE)
START_TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+))?)*)(\s*/?)>")
ATTRIBUTE = re.compile(r"[^\s=>/]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+))?")
PRICE = re.compile(r"[$\N{EURO SIGN}]\s?[\d,]+(?:\.\d+)?")
SCRIPTS = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
CELLS = ("td", "th", "span", "a", "strong", "em", "b", "i", "p")
MOST_ROWS = 40

Change = Callable[[random.Random], Edit | None]


class HtmlEdits:
    """The edits of one page; `parse` reads it."""

    def __init__(self, text: str, parse: Parse) -> None:
        self.text, self._parse = text, parse
        self._before = keys(parse(text.encode()))
        self.spans = Spans(text)
        self._elements = [one for one in self.spans.elements if one.tag not in ("html", "body")]
        self._texts = self.spans.texts()
        self._prices = [place for place in self._texts if PRICE.search(self.text[slice(*place)])]
        self._runs = _runs(self.spans.root)
        self._given: dict[Element, frozenset[Row]] = {}
        self._rows: list[list[Element]] | None = None

    def kinds(self) -> dict[str, Change]:
        """Return the edits by name; each gives None where the page has nothing of its kind."""
        changes: dict[str, Change] = {
            "drop element": self._drop_element, "element twice": self._element_twice, "drop text": self._drop_text,
            "exchange unlike neighbours": lambda rng: self._exchange(rng, alike=False),
            "exchange like neighbours": lambda rng: self._exchange(rng, alike=True),
            "drop cell": lambda rng: self._cell(rng, twice=False),
            "cell twice": lambda rng: self._cell(rng, twice=True),
            "shuffle rows of a page": self._shuffle_rows,
            "new chip on a page": self._new_chip, "drop column": self._drop_column, "column twice": self._column_twice,
            "new column of prices": self._new_column,
            "exchange columns": lambda rng: self._exchange_columns(rng, with_cells=True),
            "exchange headers alone": lambda rng: self._exchange_columns(rng, with_cells=False),
            "strip an attribute everywhere": self._strip_attribute, "strip attributes": self._strip_attributes,
            "other classes": self._other_classes, "attributes in another order": self._attribute_order,
            "extra attribute": self._extra_attribute, "white space": self._white_space, "comments": self._comments,
            "drop end tag": self._drop_end_tag, "cut page": self._cut, "cut and closed": self._cut_and_closed,
            "words for a shown price": self._words, "second price": self._second_price, "other text": self._other_text,
            "section of another kind": self._other_section, "drop section": self._drop_section,
            "script at the end": self._script, "behind the end": self._behind,
        }  # fmt: skip
        if not self._elements:  # a page whose scripts have it all
            changes = {
                name: changes[name]
                for name in ("comments", "cut page", "cut and closed", "script at the end", "behind the end")
            }
        return {name: _made(name, change) for name, change in changes.items()}

    def _edit(
        self, *changes: tuple[int, int, str], judged: str = HARM, renamed: tuple[tuple[str, str], ...] = (),
        added: frozenset[Row] = frozenset(),
    ) -> Edit:  # fmt: skip
        body = spliced(self.text, *changes).encode()
        return Edit(kind="", body=body, judged=judged, renamed=renamed, added=added)

    def _source(self, one: Element) -> str:
        return self.text[one.start : one.end]

    def _drop_element(self, rng: random.Random) -> Edit | None:
        one = rng.choice(self._elements)
        return self._edit((one.start, one.end, ""))

    def _element_twice(self, rng: random.Random) -> Edit | None:
        one = rng.choice(self._elements)
        return self._edit((one.end, one.end, self._source(one)))

    def _drop_text(self, rng: random.Random) -> Edit | None:
        return self._edit((*rng.choice(self._texts), "")) if self._texts else None

    def _exchange(self, rng: random.Random, *, alike: bool) -> Edit | None:
        pairs = [
            (one, other) for parent in (self.spans.root, *self._elements) for one, other in pairwise(parent.children)
            if (one.tag == other.tag) == alike and not {one.tag, other.tag} & {"head", "body", "script"}
        ]  # fmt: skip
        if not pairs:
            return None
        one, other = rng.choice(pairs)
        between = self.text[one.end : other.start]
        new = self._source(other) + between + self._source(one)
        return self._edit((one.start, other.end, new), judged=BLIND if alike else HARM)

    def _cells(self) -> list[Element]:
        rows = [row for run in self._grids() for row in run]
        return [cell for row in rows for cell in _cells(row)]

    def _cell(self, rng: random.Random, *, twice: bool) -> Edit | None:
        cells = self._cells()
        if not cells:
            return None
        one = rng.choice(cells)
        return self._edit((one.end, one.end, self._source(one)) if twice else (one.start, one.end, ""))

    def _shuffle_rows(self, rng: random.Random) -> Edit | None:
        runs = self._rows_found()
        if not runs:
            return None
        run = rng.choice(runs)
        order = rng.sample(run, k=len(run))
        changes = [(one.start, one.end, self._source(other)) for one, other in zip(run, order, strict=True)]
        return self._edit(*changes, judged=HARMLESS)

    def _new_chip(self, rng: random.Random) -> Edit | None:
        """Put in a copy of a row in which the chip has a name that nobody has heard of."""
        rows = [row for run in self._rows_found() for row in run if self._given_by(row)]
        for row in rng.sample(rows, k=min(8, len(rows))):
            given = self._given_by(row)
            labels = " ".join(str(value) for one in given for value in one[1:3] if value)
            chips = [chip for chip in CHIP.findall(labels) if chip in self._source(row)]
            if not chips or any(other is not row and given == self._given_by(other) for other in rows):
                continue
            copy = self._source(row).replace(chips[0], NEW_CHIP)
            return self._edit((row.end, row.end, copy), judged=HARMLESS, renamed=((chips[0], NEW_CHIP),), added=given)
        return None

    def _given_by(self, one: Element) -> frozenset[Row]:
        """Return the rows that are not read without this element."""
        if one not in self._given:
            try:
                rest = keys(self._parse(self._edit((one.start, one.end, "")).body))
                self._given[one] = frozenset(self._before - rest) if rest <= self._before else frozenset()
            except Exception:  # noqa: BLE001 - what is refused without it, is no row
                self._given[one] = frozenset()
        return self._given[one]

    def _rows_found(self) -> list[list[Element]]:
        """Return the runs of elements that are rows: several of them give prices, and no two the same."""
        if self._rows is None:
            self._rows = []
            looked_at = 0
            for run in self._runs:
                if run[0].tag in CELLS or looked_at + len(run) > MOST_ROWS or not PRICE.search(self._source(run[-1])):
                    continue
                looked_at += len(run)
                given = [rows for one in run if (rows := self._given_by(one))]
                if len(given) > 1 and sum(map(len, given)) == len(frozenset.union(*given)):
                    self._rows.append([one for one in run if self._given_by(one)])
        return self._rows

    def _grids(self) -> list[list[Element]]:
        """Return the runs of at least two rows with equally many cells, at least two; the first may be headers."""
        grids = []
        for run in self._runs:
            if run[0].tag in ("td", "th", "span", "a", "p"):
                continue
            wide = [one for one in run if len(_cells(one)) > 1]
            if len(wide) > 1 and len({len(_cells(one)) for one in wide}) == 1:
                grids.append(wide)
        return grids

    def _tables(self) -> list[list[Element]]:
        """Return the rows of each table, headers first, of real tables without cells that span others."""
        tables = [one for one in self._elements if one.tag == "table" and "span=" not in self._source(one)]
        cells = [[cell.parent for cell in table.walk() if cell.tag in ("td", "th") and cell.parent] for table in tables]
        rows = [list(dict.fromkeys(parents)) for parents in cells]  # not every header stands in a <tr>
        return [found for found in rows if len(found) > 1 and len({len(row.children) for row in found}) == 1]

    def _drop_column(self, rng: random.Random) -> Edit | None:
        return self._with_column(rng, lambda cell: (cell.start, cell.end, ""))

    def _column_twice(self, rng: random.Random) -> Edit | None:
        return self._with_column(rng, lambda cell: (cell.end, cell.end, self._source(cell)))

    def _new_column(self, rng: random.Random) -> Edit | None:
        """Put a column with other prices and a header of its own before or behind one of prices."""
        tables = [
            (rows, place) for rows in self._tables() or self._grids() for place in range(len(_cells(rows[0])))
            if sum(PRICE.search(self._source(_cells(row)[place])) is not None for row in rows) * 2 >= len(rows)
        ]  # fmt: skip
        if not tables:
            return None
        rows, place = rng.choice(tables)
        is_before = rng.random() < 0.5
        changes = []
        for row in rows:
            cell = _cells(row)[place]
            new = PRICE.sub("$1.11", self._source(cell))
            if row is rows[0] and new == self._source(cell):
                new = re.sub(r"(?<=>)[^<>]*\w[^<>]*(?=<)", "Zzz", new)
            where = cell.start if is_before else cell.end
            changes.append((where, where, new))
        return self._edit(*changes)

    def _with_column(self, rng: random.Random, change: Callable[[Element], tuple[int, int, str]]) -> Edit | None:
        """Change the cells of a column: all, all but the header, or the header alone."""
        tables = self._tables() or self._grids()
        if not tables:
            return None
        rows = rng.choice(tables)
        place = rng.randrange(len(_cells(rows[0])))
        cells = rng.choice([rows, rows[1:], rows[:1]])
        return self._edit(*(change(_cells(row)[place]) for row in cells))

    def _exchange_columns(self, rng: random.Random, *, with_cells: bool) -> Edit | None:
        tables = self._tables()
        if not tables:
            return None
        rows = rng.choice(tables)
        width = len(rows[0].children)
        if width < 2:
            return None
        one, other = sorted(rng.sample(range(width), k=2))
        changes = []
        for row in rows if with_cells else rows[:1]:
            first, second = row.children[one], row.children[other]
            changes += [(first.start, first.end, self._source(second)), (second.start, second.end, self._source(first))]
        return self._edit(*changes, judged=HARM if with_cells else BLIND)

    def _tags(self, change: Callable[[str, list[str]], list[str]]) -> str:
        """Return the page with the attributes of each start tag changed; scripts stay as they are."""

        def tag(found: re.Match[str]) -> str:
            attributes = change(found[1], ATTRIBUTE.findall(found[2]))
            return f"<{' '.join([found[1], *attributes])}{found[3]}>"

        parts, place = [], 0
        for unseen in SCRIPTS.finditer(self.text):
            parts += [START_TAG.sub(tag, self.text[place : unseen.start()]), unseen[0]]
            place = unseen.end()
        return "".join(parts) + START_TAG.sub(tag, self.text[place:])

    def _whole(self, text: str, judged: str = HARM) -> Edit:
        return Edit(kind="", body=text.encode(), judged=judged)

    def _strip_attribute(self, rng: random.Random) -> Edit | None:
        names = sorted({name.split("=")[0].strip() for one in self._elements for name in self._attributes(one)})
        if not names:
            return None
        name = rng.choice(names)
        return self._whole(self._tags(lambda _, found: [one for one in found if one.split("=")[0].strip() != name]))

    def _attributes(self, one: Element) -> list[str]:
        found = START_TAG.match(self.text, one.start)
        return ATTRIBUTE.findall(found[2]) if found else []

    def _strip_attributes(self, rng: random.Random) -> Edit | None:
        with_some = [one for one in self._elements if self._attributes(one)]
        if rng.random() < 0.2 or not with_some:
            return self._whole(self._tags(lambda _, found: []))
        one = rng.choice(with_some)
        return self._edit((one.start, one.inner, f"<{one.tag}>"))

    def _other_classes(self, rng: random.Random) -> Edit | None:
        ending = f"_{rng.randrange(1000):03}"

        def change(tag: str, found: list[str]) -> list[str]:
            return [
                re.sub(r"([^\s\"'=]+)(?=[\s\"'])", rf"\1{ending}", one.partition("=")[2]).join(["class=", ""])
                if one.startswith("class=") else one for one in found
            ]  # fmt: skip

        return self._whole(self._tags(change), HARMLESS)

    def _attribute_order(self, rng: random.Random) -> Edit | None:
        return self._whole(self._tags(lambda _, found: found[::-1]), HARMLESS)

    def _extra_attribute(self, rng: random.Random) -> Edit | None:
        extra = rng.choice(['data-new="1"', 'data-v-7ba5bd90=""', 'translate="no"'])
        return self._whole(self._tags(lambda tag, found: [*found, extra] if tag != "html" else found), HARMLESS)

    def _white_space(self, rng: random.Random) -> Edit | None:
        space = rng.choice(["\n", "\n    ", "\t", "  "])
        return self._between_blocks(space)

    def _comments(self, rng: random.Random) -> Edit | None:
        return self._between_blocks(rng.choice(["<!-- -->", "<!-- $1.11 -->"]))

    def _between_blocks(self, new: str) -> Edit | None:
        head = max(self.text.find("<body"), 0)
        parts, place = [self.text[:head]], head
        for unseen in SCRIPTS.finditer(self.text, head):
            parts += [BETWEEN_BLOCKS.sub(new, self.text[place : unseen.start()]), unseen[0]]
            place = unseen.end()
        return self._whole("".join(parts) + BETWEEN_BLOCKS.sub(new, self.text[place:]), HARMLESS)

    def _drop_end_tag(self, rng: random.Random) -> Edit | None:
        closed = [one for one in self._elements if one.end > one.outer]
        dropped = rng.sample(closed, k=min(len(closed), rng.choice([1, 1, 1, 5])))
        return self._edit(*((one.outer, one.end, "") for one in dropped))

    def _cut(self, rng: random.Random) -> Edit | None:
        return self._whole(self.text[: rng.randrange(len(self.text.rstrip()))])

    def _cut_and_closed(self, rng: random.Random) -> Edit | None:
        place = rng.randrange(len(self.text.rstrip()))
        return self._whole(self.text[:place] + rng.choice(["", '">', "</script>"]) + "</body></html>")

    def _words(self, rng: random.Random) -> Edit | None:
        if not self._prices:
            return None
        return self._edit((*rng.choice(self._prices), rng.choice(NO_PRICE)))

    def _second_price(self, rng: random.Random) -> Edit | None:
        """Put another price beside one: in its text, or in an element before or after it."""
        if not self._prices:
            return None
        start, end = rng.choice(self._prices)
        other = PRICE.sub("$1.11", self.text[start:end], count=1)
        place = rng.choice([start, end])
        return self._edit(
            (
                place,
                place,
                rng.choice([f" {other} ", f"<s>{other}</s>", f"<span>{other}</span>", f"<div>{other}</div>"]),
            )
        )

    def _other_text(self, rng: random.Random) -> Edit | None:
        if not self._texts:
            return None
        start, end = rng.choice(self._texts)
        new, renamed = another(self.text[start:end], self._before)
        return self._edit((start, end, new), renamed=renamed)

    def _headed(self) -> list[tuple[Element, Element]]:
        """Return the headings with what follows them, where that has prices, and the rows do not bear its name."""
        found = []
        for parent in (self.spans.root, *self._elements):
            for one, other in pairwise(parent.children):
                name = self.spans.seen(one)
                is_heading = one.tag in HEADINGS or any(inner.tag in HEADINGS for inner in one.walk())
                of_a_row = any(
                    isinstance(value, str) and name and value in name for row in self._before for value in row[1:3]
                )
                if (
                    is_heading
                    and not of_a_row
                    and PRICE.search(self._source(other))
                    and not PRICE.search(self._source(one))
                ):
                    found.append((one, other))
        return found

    def _other_section(self, rng: random.Random) -> Edit | None:
        """Put a copy of a section, with other prices, under a heading of its own behind it."""
        found = self._headed()
        if not found:
            return None
        one, other = rng.choice(found)
        head = re.sub(r"(?<=>)[^<>]*\w[^<>]*(?=<)", "Zzz pricing", self._source(one))
        copy = head + PRICE.sub("$1.11", self._source(other))
        return self._edit((other.end, other.end, copy))

    def _drop_section(self, rng: random.Random) -> Edit | None:
        found = self._headed()
        if not found:
            return None
        one, other = rng.choice(found)
        return self._edit(
            rng.choice([(one.start, other.end, ""), (one.start, one.end, ""), (other.start, other.end, "")])
        )

    def _script(self, rng: random.Random) -> Edit | None:
        place = self.text.lower().rfind("</body>")
        noise = '<script>window.x = {"price": "$1.11", "name": "NVIDIA H100"};</script>'
        return self._edit((place, place, noise), judged=HARMLESS) if place >= 0 else None

    def _behind(self, rng: random.Random) -> Edit | None:
        """Put behind the end of the page what sites and those between put there."""
        noise = [
            "<!-- served in 12 ms -->", "\n<script>window.x = '$1.11';</script>\n<!-- $1.11 -->\n",
            "<noscript><img src=x></noscript>", "<!-- cut sho", "<script async src='https://t.example/t.js'></scr",
        ]  # fmt: skip
        return self._whole(self.text.rstrip() + rng.choice(noise), HARMLESS) if "</html>" in self.text else None


def _runs(root: Element) -> list[list[Element]]:
    """Return the runs of at least two neighbours of one tag."""
    runs = []
    for parent in (root, *root.walk()):
        run: list[Element] = []
        for child in [*parent.children, None]:
            if run and (child is None or child.tag != run[0].tag):
                runs += [run] if len(run) > 1 else []
                run = []
            run += [child] if child is not None else []
    return runs


def _cells(row: Element) -> list[Element]:
    found = row.children
    while len(found) == 1:
        found = found[0].children
    return found


def _made(name: str, change: Change) -> Change:
    def edit(rng: random.Random) -> Edit | None:
        found = change(rng)
        return None if found is None else replace(found, kind=name)

    return edit
