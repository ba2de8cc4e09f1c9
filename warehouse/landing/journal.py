"""The journal of a landing place in parts, one for each writing process, and how far a reader of each has come.

In a folder the part without a name is `journal.jsonl`, another `journal/<part>.jsonl`; a position is a count of bytes.
In a bucket, where nothing can be appended to, a part is `journal/<part>/<number>.jsonl`, numbered from 1 without a gap
(`journal/-/` for the part without a name); a position is the number of the last object that was read, and each object
is one writing: a line, or many where a journal was copied.

A part has one writer at a time, who holds the lock `lock_of(part)`. In a folder only he may append: two at once would
mix their lines. In a bucket a number is never given twice, whoever tries.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import count, islice
from pathlib import Path

from warehouse import disk
from warehouse.errors import ChipledgerError
from warehouse.landing.storage import CONNECTIONS, Bucket

PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
OBJECT = re.compile(r"(\d{12})\.jsonl", re.ASCII)
FIRST_PART = "w1"
"""What the first of several writers takes; see `own_part`."""
NAMELESS = "-"
"""The part without a name, in a bucket; no name begins like it."""
AHEAD = 10 * CONNECTIONS
"""Objects that are fetched at once, before the first of them is read."""
CUT = (
    "See that its disk is mounted; else bring the landing back from a backup (`chipledger data restore`), or "
    "`chipledger data rebuild` from what is left"
)
RESTORE = "Restore the journal from a backup; its documents are intact"


def lock_of(part: str) -> str:
    """Return the name of the lock that a part's writer holds."""
    return f"journal part {part}"


def scope_lock(source: str, scope: str) -> str:
    """Return the name of the lock that who lands or loads a scope holds: one of all files that were imported alike.

    The same offers are in several of them, and in no two scopes of a live source.
    """
    return f"scope {source} {'' if source.startswith('import:') else scope}"


@contextmanager
def own_part(
    journal: "Files | Objects", loaded: Mapping[str, int], try_lock: Callable[[str], AbstractContextManager[bool]]
) -> Iterator[str]:
    """Hold the first of the parts w1, w2, ... that nobody holds and of which all is loaded; yield its name.

    `loaded` has the position of each part; `try_lock` tries for a lock by its name, and tells whether it is held until
    the end of the `with`. So the parts are as many as the writers of one time, not as the runs of years, each of which
    every later one would ask after; and what a writer finds in its own part, it wrote itself.
    """
    for number in count(1):
        part = f"w{number}"
        position = loaded.get(part, 0)
        if journal.is_beyond(part, position):
            continue
        with try_lock(lock_of(part)) as is_held:
            # Asked again under the lock: until then another may have written to it, and died.
            if is_held and not journal.is_beyond(part, position):
                yield part
                return


def checked(part: str) -> str:
    """Return the name of a part as it is; raise ChipledgerError for one that might lead to another file."""
    if part and not PART.fullmatch(part):
        message = "not the name of a part of the journal"
        hint = "Letters, digits, - and _, beginning with a letter or digit, 80 at most"
        raise ChipledgerError(message, source="landing", field="part", value=part, hint=hint)
    return part


class Files:
    """The journal in a folder."""

    unit = "byte"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, part: str) -> Path:
        """Return the file of a part, which need not exist."""
        return self.folder / (f"journal/{checked(part)}.jsonl" if part else "journal.jsonl")

    def where(self, part: str) -> str:
        """Return where a part lies, for people."""
        return str(self.file(part))

    def parts(self) -> list[str]:
        """Return the names of all parts, in order."""
        named = sorted(file.stem for file in self.folder.glob("journal/*.jsonl") if PART.fullmatch(file.stem))
        return [""] * self.file("").exists() + named

    def append(self, part: str, line: bytes) -> None:
        """Append a line, without its newline, and flush it to disk."""
        journal = self.file(part)
        is_new = bool(part) and not journal.exists()
        if is_new:
            journal.parent.mkdir(exist_ok=True)
        with journal.open("ab") as file:
            _close_torn_line(journal, file.tell())
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            disk.flush(journal.parent)
            disk.flush(self.folder)

    def lines(self, part: str, start: int) -> Iterator[tuple[bytes, int]]:
        """Yield complete lines from byte `start` on, each with the position after it. Raises ChipledgerError."""
        journal = self.file(part)
        if not start and not journal.exists():
            return
        self.refuse_cut(part, start)
        with journal.open("rb") as file:
            file.seek(start)
            for line in file:
                start += len(line)
                if not line.endswith(b"\n"):
                    return
                if line.strip():
                    yield line, start

    def is_beyond(self, part: str, start: int) -> bool:
        """Return whether there is more than was loaded; raise ChipledgerError where there is less."""
        self.refuse_cut(part, start)
        journal = self.file(part)
        return journal.exists() and journal.stat().st_size > start

    def refuse_cut(self, part: str, start: int) -> None:
        """Raise where no line begins at byte `start`: what is appended to such a journal would never be loaded."""
        if not start:
            return
        end, journal = b"", self.file(part)
        if journal.exists():
            with journal.open("rb") as file:
                file.seek(start - 1)
                end = file.read(1)
        if end != b"\n":
            raise _cut(str(journal), "loaded up to byte", start)


class Objects:
    """The journal in a bucket."""

    unit = "object"

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self._last: dict[str, int] = {}

    def where(self, part: str) -> str:
        """Return where a part lies, for people."""
        return self.bucket.where(self._below(part))

    def parts(self) -> list[str]:
        """Return the names of all parts, in order."""
        found = [name for name in self.bucket.folders("journal/") if name == NAMELESS or PART.fullmatch(name)]
        return ["" if name == NAMELESS else name for name in found]

    def append(self, part: str, line: bytes) -> None:
        """Write a line, without its newline, as the next object; it is there whole when this returns."""
        content = line + b"\n"
        if part not in self._last:
            *_, last = 0, *(self._number(part, name) for name in self.bucket.names(self._below(part)))
            self._last[part] = last
        while True:
            self._last[part] += 1
            name = self._name(part, self._last[part])
            # Taken by ourselves, where an answer was lost and boto3 asked again, or by a writer who lost his lock.
            if self.bucket.put(name, content, only_new=True) or self.bucket.read(name) == content:
                return

    def lines(self, part: str, start: int) -> Iterator[tuple[bytes, int]]:
        """Yield lines from behind object `start` on, each with the position after it. Raises ChipledgerError."""
        self.refuse_cut(part, start)
        names = self.bucket.names(self._below(part), after=self._name(part, start))
        while ahead := list(islice(names, AHEAD)):
            for name, content in zip(ahead, self._fetched(ahead), strict=True):
                number = self._number(part, name)
                lines = content.splitlines(keepends=True)
                if number != start + 1 or not lines or not lines[-1].endswith(b"\n"):
                    raise ChipledgerError(
                        "an object of the journal is missing or cut",
                        source=self.where(part),
                        field="object",
                        value=str(start + 1),
                        hint=RESTORE,
                    )
                for line in lines[:-1]:
                    yield line, start
                start = number
                yield lines[-1], start

    def is_beyond(self, part: str, start: int) -> bool:
        """Return whether there is more than was loaded; raise ChipledgerError where there is less."""
        # In one question, as it is asked of every part there ever was: the last that was loaded, and one more.
        after = self._name(part, start - 1) if start else ""
        found = list(self.bucket.names(self._below(part), after=after, most=2 if start else 1))
        if start and found[:1] != [self._name(part, start)]:
            raise _cut(self.where(part), "loaded up to object", start)
        return len(found) > bool(start)

    def refuse_cut(self, part: str, start: int) -> None:
        """Raise where object `start` is not there: what is written to such a journal might never be loaded."""
        if start:
            name = self._name(part, start)
            if next(self.bucket.names(name, most=1), None) != name:
                raise _cut(self.where(part), "loaded up to object", start)

    def _fetched(self, names: list[str]) -> Iterator[bytes]:
        if len(names) == 1:
            return iter([self.bucket.read(names[0])])
        with ThreadPoolExecutor(max_workers=CONNECTIONS) as pool:
            return iter(list(pool.map(self.bucket.read, names)))

    def _below(self, part: str) -> str:
        return f"journal/{checked(part) or NAMELESS}/"

    def _name(self, part: str, number: int) -> str:
        return f"{self._below(part)}{number:012}.jsonl"

    def _number(self, part: str, name: str) -> int:
        found = OBJECT.fullmatch(name.removeprefix(self._below(part)))
        if found is None:
            message = "an object that is none of the journal's"
            hint = "Move it elsewhere: nothing else may lie there"
            raise ChipledgerError(message, source=self.where(part), field="name", value=name, hint=hint)
        return int(found[1])


def _cut(source: str, field: str, start: int) -> ChipledgerError:
    message = "the journal is not the one that was loaded: it is missing, cut or changed"
    return ChipledgerError(message, source=source, field=field, value=str(start), hint=CUT)


def _close_torn_line(journal: Path, size: int) -> None:
    """Cut off what a crash left of a line, so that the next one starts clean."""
    if not size:
        return
    with journal.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) == b"\n":
            return
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
