"""Whatever the bytes: every reader refuses by a documented error, or reads what stands there, soon and in little memory.

Documents captured where there are any, and made in the same formats, are changed by their structure and by their bytes
(`fuzz.mutants` and its neighbours); `fuzz.verdicts` says what a wrong row is. The short form runs with every test, the
long one with `make prove`; both print what became of the mutants (pytest -s), and write it where CHIPLEDGER_PROOF_DIR
says.
"""  # noqa: E501

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from fuzz import aws_subjects, other_subjects, text_subjects
from fuzz.mutants import Mutant
from fuzz.run_subject import tallied
from fuzz.verdicts import (
    BAD,
    CHANGED,
    FAULT,
    REFUSED,
    SAME,
    SLOW,
    WRONG,
    Known,
    Row,
    Subject,
    Tally,
    judge,
    publish,
    row_of,
)

from warehouse.errors import LayoutChanged

SHORT, LONG = 3, 400
FAMILIES = (aws_subjects, other_subjects, text_subjects)


def subjects(shared: Path | None) -> Iterator[Subject]:
    for family in FAMILIES:
        yield from family.subjects(shared)


def found(tallies: dict[str, Tally]) -> str:
    """Return what was found wrong, for a person who has to mend a reader."""
    return "\n".join(
        f"{name}: {verdict}, {mutant.kind}, put in {str(mutant.put)[:120]}, took away {str(mutant.taken)[:80]}: {told}"
        for name, tally in tallies.items() for verdict, mutant, told in tally.findings[:5]
    )  # fmt: skip


def test_every_reader_refuses_or_reads_what_stands_there() -> None:
    """Of documents in the package and in the tests alone: three mutants of each."""
    tallies = {subject.name: tallied(subject, SHORT) for subject in subjects(None)}
    publish("fuzz_readers_short", tallies)

    assert not any(tally.findings for tally in tallies.values()), found(tallies)
    every = sum((tally.verdicts for tally in tallies.values()), start=next(iter(tallies.values())).verdicts.copy())
    assert every[REFUSED] > every.total() / 5  # changes that nobody need refuse would prove nothing
    assert every[SAME] + every[CHANGED] > every.total() / 5  # and to refuse everything would be useless


@pytest.mark.prove
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_every_reader_at_length(shared: Path, family: ModuleType) -> None:
    """With the captured documents, and four hundred mutants of each; half an hour in all on a machine of its own."""
    tallies = {subject.name: tallied(subject, LONG) for subject in family.subjects(shared)}
    publish(f"fuzz_{family.__name__.rpartition('.')[2]}", tallies)

    assert not any(tally.findings for tally in tallies.values()), found(tallies)


# --- the test itself: readers that guess, fail or dawdle are found out


@pytest.mark.parametrize(
    ("after", "mutant", "expected"),
    [
        ("2.5", Mutant(kind="k", body=b"", put=("2.5",), taken=("1.5",)), CHANGED),
        ("2.5", Mutant(kind="k", body=b"", put=("25",), taken=("1.5",)), WRONG),
        ("1000", Mutant(kind="k", body=b"", put=("1_000",)), WRONG),
        ("2.5", Mutant(kind="k", body=b"", judged="twice"), WRONG),
        ("1.5", Mutant(kind="k", body=b"", judged="twice"), SAME),
    ],
)
def test_a_row_is_right_where_the_change_explains_it(after: str, mutant: Mutant, expected: str) -> None:
    """A price that the change did not put in is wrong, whatever else it did."""
    subject = Subject(name="toy", documents={}, read=lambda body: {row_of(chip="H100", unit_price=after)})
    known = Known(rows={row_of(chip="H100", unit_price="1.5")})

    assert judge(subject, known, mutant, Tally()) == expected


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), LayoutChanged("x")])
def test_an_error_that_nobody_documented_is_found(error: Exception) -> None:
    """A refusal is one of warehouse.errors; everything else is a fault."""

    def read(body: bytes) -> set[frozenset[tuple[str, str]]]:
        raise error

    verdict = judge(Subject(name="toy", documents={}, read=read), Known(rows=()), Mutant(kind="k", body=b""), Tally())

    assert verdict == (REFUSED if isinstance(error, LayoutChanged) else FAULT)
    assert (verdict in BAD) != isinstance(error, LayoutChanged)


def test_a_reader_that_does_not_end_is_stopped_and_found() -> None:
    """Also one within the search for a pattern, and with a handler of every error."""

    def read(body: bytes) -> set[Row]:
        with contextlib.suppress(Exception):
            re.search(rb"(a+)+b", body)
        return set()

    dawdles = Subject(name="toy", documents={}, read=read)
    found = judge(dawdles, Known(rows=()), Mutant(kind="k", body=b"a" * 64), Tally(), given_up_s=0.2)

    assert found == SLOW
