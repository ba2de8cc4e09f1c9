"""Every neocloud source reads its fixture, and refuses it harmed: LayoutChanged, never a row."""

from typing import Any

import pytest
from neoclouds.case import Case, cases, rows

from extract.neoclouds import SOURCES
from warehouse.errors import LayoutChanged
from warehouse.gates import row_gate
from warehouse.schemas import IDENTITY

CASES = cases()
LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in</h1><form></form></body></html>"


def of(case: Case) -> str:
    return case.source.name


def harms() -> list[Any]:
    """Return each harm of each case, as the case and the harmed body."""
    found: list[Any] = []
    for case in CASES:
        body = case.body
        harmed = {
            "empty": b"", "null": b"null", "no object": b"{}", "no list": b"[]", "login page": LOGIN,
            "cut in half": body[: len(body) // 2], "cut in two thirds": body[: len(body) * 2 // 3],
            "cut at the end": body.rstrip()[:-2],
        }  # fmt: skip
        harmed |= {f"without {text}": edited(case, text, "Zzz" + text[::-1]) for text in case.renamed}
        harmed |= {f"with {new[:40]}": edited(case, text, new) for text, new in case.inserted}
        harmed |= {f"{one} for {other}": exchanged(case, one, other) for one, other in case.swapped}
        found += [pytest.param(case, harm, id=f"{of(case)}: {name}") for name, harm in harmed.items()]
    return found


def edited(case: Case, text: str, replacement: str) -> bytes:
    """Return the fixture with every occurrence of a text replaced; the text must stand in it."""
    assert text.encode() in case.body, f"{case.fixture} does not hold {text!r}"
    return case.body.replace(text.encode(), replacement.encode())


def exchanged(case: Case, one: str, other: str) -> bytes:
    """Return the fixture with two texts exchanged; both must stand in it."""
    assert other.encode() in case.body, f"{case.fixture} does not hold {other!r}"
    return edited(case, one, "\0").replace(other.encode(), one.encode()).replace(b"\0", other.encode())


def test_every_source_has_a_case():
    """A source without fixture and expected rows is not tested at all."""
    assert {case.source.name for case in CASES} == {source.name for source in SOURCES}


@pytest.mark.parametrize("case", CASES, ids=of)
def test_a_fixture_gives_its_rows(case: Case):
    """Exactly the expected ones, which the row gate takes; the case names their origin."""
    found = case.parse(case.body)
    assert rows(found) == case.expected
    assert case.expected
    accepted, refused = row_gate(found.rows)
    assert not refused
    assert accepted.n_unique([*IDENTITY]) == len(accepted)
    assert case.origin


@pytest.mark.parametrize("case", CASES, ids=of)
def test_a_case_harms_what_it_reads(case: Case):
    """Each source names texts without which nothing may be read, and a column that is new."""
    assert case.renamed
    assert case.inserted
    assert case.harmless


@pytest.mark.parametrize(("case", "harmed"), harms())
def test_a_harmed_answer_is_refused(case: Case, harmed: bytes):
    """Empty, cut short, another page, a column renamed or inserted, sections exchanged: never a row."""
    with pytest.raises(LayoutChanged) as raised:
        case.parse(harmed)
    assert raised.value.source == case.source.name
    assert raised.value.field


@pytest.mark.parametrize("case", CASES, ids=of)
def test_a_harmless_edit_changes_nothing(case: Case):
    """Refusing everything would be safe and useless."""
    for text, replacement in case.harmless:
        assert rows(case.parse(edited(case, text, replacement))) == case.expected


@pytest.mark.parametrize(
    ("case", "path"), [(case, path) for case in CASES for path in case.samples], ids=lambda item: str(item)[-40:]
)
def test_a_captured_sample_gives_its_rows(case: Case, path: str, shared):
    """What was captured from the provider, where somebody wrote down what stands in it."""
    found = rows(case.parse((shared / path).read_bytes()))
    expected = case.samples[path]
    assert [{k: row.get(k) for k in want} for row, want in zip(found, expected, strict=True)] == expected
