"""All mutants of one reader: of its structure and of its bytes, always the same ones for the same number."""

import random
import zlib
from typing import TYPE_CHECKING

from fuzz.mutants import drawn, of_bytes
from fuzz.verdicts import Known, Row, Subject, Tally, judge

if TYPE_CHECKING:
    from collections.abc import Collection

SHARE_OF_BYTES = 0.4


def tallied(subject: Subject, number: int) -> Tally:
    """Return what became of so many mutants of each document of a reader."""
    tally = Tally(documents=len(subject.documents))
    every: dict[str, Collection[Row]] = {name: subject.read(body) for name, body in subject.documents.items()}
    for name, body in subject.documents.items():
        single = [row for part in (subject.parts(body) if subject.parts else ()) for row in subject.read(part)]
        others = {row for other, rows in every.items() if other != name for row in rows}
        before = Known(rows=every[name], single=frozenset(single), others=others)
        if not before.rows:
            raise AssertionError(f"{subject.name}: nothing is read in {name}, unchanged")
        rng = random.Random(zlib.crc32(f"{subject.name} {name} {number}".encode()))  # noqa: S311 - no secrets
        mates = [other for other in subject.documents.values() if other is not body] or [body]
        ours = int(number * SHARE_OF_BYTES) if subject.changes else number
        for mutant in drawn(of_bytes(body, mates), rng, ours):
            judge(subject, before, mutant, tally)
        if subject.changes:
            for mutant in drawn(subject.changes(body), rng, number - ours):
                judge(subject, before, mutant, tally)
    return tally
