"""Changes of tables of text: columns moved, cells shifted, quotes damaged, headers spelt otherwise."""

import random
import re
from collections.abc import Mapping

from fuzz.mutants import BLIND, ODD_NUMBERS, ODD_TEXTS, OTHER_WORDS, TWICE, Change, Mutant

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def split(line: str, by: str) -> list[str]:
    """Return the cells of a line as they are written, quotes and all."""
    if by != ",":
        return line.split(by)
    return re.findall(r'(?:^|(?<=,))((?:"(?:[^"]|"")*"|[^",])*)(?=,|$)', line)


def of_table(text: str, *, by: str = ",", head: int = 0, header: bool = True) -> Mapping[str, Change]:
    """Return the changes of a table; `head` is the place of the header, or of the first line where there is none."""
    lines = text.split("\n")
    width = len(split(lines[head], by))
    first = head + header
    body = [place for place in range(first, len(lines)) if len(split(lines[place], by)) == width and lines[place]]
    names = [_bare(cell) for cell in split(lines[head], by)] if header else []

    def made(kind: str, changed: Mapping[int, str | None], *put: str, taken: tuple[str, ...] = (), judged: str = "plain"
             ) -> Mutant:  # fmt: skip
        told = [changed.get(place, line) for place, line in enumerate(lines)]
        whole = "\n".join(line for line in told if line is not None)
        return Mutant(
            kind=f"table: {kind}", body=whole.encode("utf-8", "surrogatepass"), put=put, taken=taken, judged=judged
        )  # fmt: skip

    def cells_at(place: int) -> list[str]:
        return split(lines[place], by)

    def with_cell(kind: str, rng: random.Random, new: str, place: int, column: int) -> Mutant:
        cells = cells_at(place)
        old = cells[column]
        cells[column] = f'"{new}"' if old.startswith('"') else new
        return made(kind, {place: by.join(cells)}, new, taken=(_bare(old),))

    def shift(rng: random.Random) -> Mutant | None:
        if not body:
            return None
        place = rng.choice(body)
        cells = cells_at(place)
        column = rng.randrange(width)
        taken = [_bare(cell) for cell in cells]
        if rng.random() < 0.5:
            del cells[column]
        else:
            cells.insert(column, rng.choice(["", "1", '"x"']))
        if rng.random() < 0.5 and len(cells) != width:  # the line keeps its width: everything behind has moved
            cells = cells[:width] if len(cells) > width else [*cells, ""]
            return made("cells shifted", {place: by.join(cells)}, *map(_bare, cells), taken=tuple(taken), judged=BLIND)
        return made("a cell too many or too few", {place: by.join(cells)})

    def move_column(rng: random.Random) -> Mutant | None:
        if width < 2 or not header:
            return None
        one, other = rng.sample(range(width), 2)
        moved = {}
        for place in (head, *body):
            cells = cells_at(place)
            cells[one], cells[other] = cells[other], cells[one]
            moved[place] = by.join(cells)
        return made("columns in another order", moved)

    def exchange_names(rng: random.Random) -> Mutant | None:
        if width < 2 or not header:
            return None
        one, other = rng.sample(range(width), 2)
        cells = cells_at(head)
        cells[one], cells[other] = cells[other], cells[one]
        texts = {_bare(cells_at(place)[column]) for place in body for column in (one, other)}
        return made("names exchanged", {head: by.join(cells)}, *texts, taken=tuple(texts), judged=BLIND)

    def name_twice(rng: random.Random) -> Mutant | None:
        if width < 2 or not header:
            return None
        one, other = rng.sample(range(width), 2)
        cells = cells_at(head)
        taken = tuple(_bare(cells_at(place)[other]) for place in body)
        cells[other] = cells[one]
        return made("a name twice", {head: by.join(cells)}, taken=taken, judged=TWICE)

    def rename(rng: random.Random) -> Mutant | None:
        if not header:
            return None
        column = rng.randrange(width)
        cells = cells_at(head)
        name = _bare(cells[column])
        new = rng.choice([name.upper(), name.lower(), f" {name}", f"{name} ", "zzz", "", name.title(), name[:-1]])
        if new == name:
            return None
        cells[column] = f'"{new}"' if cells[column].startswith('"') else new
        taken = tuple(_bare(cells_at(place)[column]) for place in body)
        return made("name spelt otherwise", {head: by.join(cells)}, taken=(*taken, name))

    def drop_column(rng: random.Random) -> Mutant | None:
        if width < 2:
            return None
        column = rng.randrange(width)
        places = (head, *body) if header else body
        taken = tuple(_bare(cells_at(place)[column]) for place in body)
        without = {place: by.join(cells_at(place)[:column] + cells_at(place)[column + 1 :]) for place in places}
        return made("a column dropped", without, taken=(*taken, *names[column : column + 1]))

    def quote(rng: random.Random) -> Mutant | None:
        place = rng.choice(body) if body and rng.random() < 0.8 else head
        line = lines[place]
        at = [match.start() for match in re.finditer('"', line)]
        if at and rng.random() < 0.5:
            spot = rng.choice(at)
            new = line[:spot] + line[spot + 1 :]
        else:
            spot = rng.randrange(len(line) + 1)
            new = line[:spot] + rng.choice(['"', '"', "'", '""', "\\"]) + line[spot:]
        # A lost quote joins cells: what comes out are words of this line and the next, cut where the quotes now are.
        return made("a quote", {place: new}, *map(_bare, split(new, by)), *split(new.replace('"', ""), by),
                    taken=tuple(map(_bare, cells_at(place))))  # fmt: skip

    def odd_number(rng: random.Random) -> Mutant | None:
        at = [(place, column) for place in rng.sample(body, min(len(body), 5)) for column, cell in
              enumerate(cells_at(place)) if NUMBER.fullmatch(_bare(cell))]  # fmt: skip
        return with_cell("odd number", rng, rng.choice(ODD_NUMBERS), *rng.choice(at)) if at else None

    def odd_text(rng: random.Random) -> Mutant | None:
        return (
            with_cell("odd text", rng, rng.choice(ODD_TEXTS), rng.choice(body), rng.randrange(width)) if body else None
        )

    def unit(rng: random.Random) -> Mutant | None:
        at = [(place, column) for place in rng.sample(body, min(len(body), 5)) for column, cell in
              enumerate(cells_at(place)) if _bare(cell).casefold() in OTHER_WORDS]  # fmt: skip
        if not at:
            return None
        place, column = rng.choice(at)
        old = _bare(cells_at(place)[column])
        new = rng.choice(OTHER_WORDS[old.casefold()])
        return None if new == old else with_cell("unit", rng, new, place, column)

    def again(rng: random.Random) -> Mutant | None:
        if not body:
            return None
        place = rng.choice(body)
        return made("a line again", {place: lines[place] + "\n" + lines[place]})

    def contradict(rng: random.Random) -> Mutant | None:
        at = [(place, column) for place in rng.sample(body, min(len(body), 5)) for column, cell in
              enumerate(cells_at(place)) if NUMBER.fullmatch(_bare(cell))]  # fmt: skip
        if not at:
            return None
        place, column = rng.choice(at)
        other = with_cell("another line like it", rng, "1.11", place, column)
        told = other.body.decode().split("\n")[place]
        return made("another line like it", {place: lines[place] + "\n" + told}, "1.11")

    def drop(rng: random.Random) -> Mutant | None:
        if not body:
            return None
        place = rng.choice([head, *body])
        taken = tuple(map(_bare, cells_at(place)))
        return made("a line dropped", {place: None}, taken=taken)

    def whole(rng: random.Random) -> Mutant | None:
        kind = rng.choice(["crlf", "cr", "semicolons", "no end", "bom", "blank lines", "tabs", "comment"])
        told = {
            "crlf": text.replace("\n", "\r\n"), "cr": text.replace("\n", "\r"), "semicolons": text.replace(by, ";"),
            "no end": text.rstrip("\n"), "bom": "\ufeff" + text, "blank lines": text.replace("\n", "\n\n"),
            "tabs": text.replace(by, "\t") if by != "\t" else text.replace(by, ","), "comment": "# prices\n" + text,
        }[kind]  # fmt: skip
        return Mutant(kind=f"table: {kind}", body=told.encode())

    return {
        "shift": shift, "move column": move_column, "exchange names": exchange_names, "name twice": name_twice,
        "rename": rename, "drop column": drop_column, "quote": quote, "odd number": odd_number, "odd text": odd_text,
        "unit": unit, "again": again, "contradict": contradict, "drop": drop, "whole": whole,
    }  # fmt: skip


def _bare(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
