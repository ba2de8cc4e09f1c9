"""Every neocloud source reads its fixture, and refuses it harmed: LayoutChanged, never a row."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neoclouds.case import Case, cases, rows
from neoclouds.markets import MARKETS
from neoclouds.mutation import Edit, tally

from extract.neoclouds import SOURCES
from warehouse.errors import LayoutChanged
from warehouse.log.gates import row_gate
from warehouse.schema.tables import IDENTITY

CASES = cases()
WHOLE = [case for case in CASES if not case.gaps]
"""Those that can be tested; what the others lack fails a test of its own."""
ATTRIBUTE = re.compile(r"[\w -]+=\"([^\"]*\w)")
SEEN = re.compile(r"(?:^|>)([^<>]*?\w)")
"""What a reader sees of a piece of HTML."""
SHOWN_PRICE = re.compile(rb"(>\s*)((?:&nbsp;)?\$[\d.,]+[^<]*)(?=<)")
"""A price in the markup of a page."""
CROSSED_OUT = (
    "<del>{}</del>", "<s>{}</s>", '<span class="text-gray line-through">{}</span>',
    '<b><strike><i style="text-decoration: line-through">{}</i></strike></b>',
    '<span class="price w-condition-invisible">{}</span>',
)  # fmt: skip
LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Sign in</h1><form></form></body></html>"


def of(case: Case) -> str:
    return case.source.name


def harms() -> list[Any]:
    """Return each harm of each case: the case, the harmed body, and whether that must still be of its form."""
    found: list[Any] = []
    for case in WHOLE:
        body = case.body
        broken = {
            "empty": b"", "null": b"null", "no object": b"{}", "no list": b"[]", "login page": LOGIN,
            "cut in half": body[: len(body) // 2], "cut in two thirds": body[: len(body) * 2 // 3],
            "cut at the end": body.rstrip()[:-2],
        }  # fmt: skip
        whole = {f"without {text}": edited(case, text, renamed(text)) for text in case.renamed}
        whole |= {f"with {new[:40]}": edited(case, text, new) for text, new in case.inserted}
        whole |= {f"{one} for {other}": exchanged(case, one, other) for one, other in case.swapped}
        for harmed, is_whole in ((broken, False), (whole, True)):
            found += [pytest.param(case, harm, is_whole, id=f"{of(case)}: {name}") for name, harm in harmed.items()]
    return found


def renamed(text: str) -> str:
    """Return a text of a fixture with another first word, where a reader sees one: quotes and tags stay as they are."""
    found = ATTRIBUTE.match(text) or SEEN.search(text)
    start = found.start(1) if found else 0
    new = re.sub(r"\w+", lambda word: f"Zzz{word[0][::-1]}", text[start:], count=1)
    return text[:start] + new if new != text[start:] else f"Zzz{text}"


def edited(case: Case, text: str, replacement: str) -> bytes:
    """Return the fixture with every occurrence of a text replaced; the text must stand in it."""
    assert text.encode() in case.body, f"{case.fixture} does not hold {text!r}"
    return case.body.replace(text.encode(), replacement.encode())


def exchanged(case: Case, one: str, other: str) -> bytes:
    """Return the fixture with two texts exchanged; both must stand in it."""
    assert one.encode() in case.body, f"{case.fixture} does not hold {one!r}"
    assert other.encode() in case.body, f"{case.fixture} does not hold {other!r}"
    return case.body.replace(one.encode(), b"\0").replace(other.encode(), one.encode()).replace(b"\0", other.encode())


def refuse_no_json(case: Case, body: bytes) -> None:
    """Fail where the fixture is JSON and a harmed one is none: any source refuses that, so that it tests nothing."""
    if case.fixture.endswith(".json"):
        try:
            json.loads(body)
        except ValueError as error:
            pytest.fail(f"an edit of {case.fixture} that leaves no JSON: {error}")


def test_every_source_has_a_case() -> None:
    """A source without fixture and expected rows is not tested at all."""
    assert {case.source.name for case in CASES} == {source.name for source in SOURCES}


@pytest.mark.parametrize("case", CASES, ids=of)
def test_a_source_has_all_that_it_must(case: Case) -> None:
    """A fixture, and the rows that it gives."""
    assert case.gaps == []


def test_gaps_are_seen() -> None:
    """No fixture and no expected rows are each named."""
    whole = WHOLE[0]
    assert replace(whole, fixture="none.json").gaps == ["none.json", "none.expected.json"]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('"price"', '"Zzzecirp"'), ("price", "Zzzecirp"), ('"a": 15', '"Zzza": 15'),
        ("<th>GPU</th>", "<th>ZzzUPG</th>"),
        (">VRAM<", ">ZzzMARV<"), ('role="listitem"', 'role="Zzzmetitsil"'), ("/HR*</th>", "/ZzzRH*</th>"),
        ("Spot VM</span></div>", "ZzztopS VM</span></div>"), ("\N{MULTIPLICATION SIGN}", "Zzz\N{MULTIPLICATION SIGN}"),
    ],
)  # fmt: skip
def test_a_text_is_renamed_where_it_is_read(text: str, other: str) -> None:
    """The quotes of a JSON key and the tags of a page stay: any source would refuse what is broken so."""
    assert renamed(text) == other


def test_a_harm_that_is_no_json_is_rejected() -> None:
    """It would be refused by any source, and so prove nothing of this one."""
    case = next(case for case in WHOLE if case.fixture.endswith(".json"))
    with pytest.raises(pytest.fail.Exception, match="leaves no JSON"):
        refuse_no_json(case, b'{Zzz"a": 1}')
    refuse_no_json(case, b'{"Zzza": 1}')


@pytest.mark.parametrize("case", WHOLE, ids=of)
def test_a_fixture_gives_its_rows(case: Case) -> None:
    """Exactly the expected ones, which the row gate takes; the case names their origin."""
    found = case.parse(case.body)
    assert rows(found) == case.expected
    assert case.expected
    accepted, refused = row_gate(found.rows)
    assert not refused
    assert accepted.n_unique([*IDENTITY]) == len(accepted)
    assert case.origin


@pytest.mark.parametrize("case", CASES, ids=of)
def test_a_case_harms_what_it_reads(case: Case) -> None:
    """Each source names texts without which nothing may be read, and a column that is new."""
    assert case.renamed
    assert case.inserted
    assert case.harmless


@pytest.mark.parametrize(("case", "harmed", "is_whole"), harms())
def test_a_harmed_answer_is_refused(case: Case, harmed: bytes, is_whole: bool) -> None:
    """Empty, cut short, another page, a column renamed or inserted, sections exchanged: never a row.

    What harms one row of many refuses that row, and no other row is another one than it was.
    """
    if is_whole:
        refuse_no_json(case, harmed)
    try:
        parsed = case.parse(harmed)
    except LayoutChanged as error:
        assert error.source == case.source.name
        assert error.field
        return
    assert is_whole
    assert parsed.refused
    assert all(one.reason and one.field and one.content for one in parsed.refused)
    assert all(one in case.expected for one in rows(parsed) if one["statistic"] == "price")
    quantiles = MARKETS.get(of(case))
    assert not tally(case.parse, case.body, [Edit(kind="", body=harmed)], quantiles=quantiles)[0].examples


@pytest.mark.parametrize("case", WHOLE, ids=of)
def test_a_harmless_edit_changes_nothing(case: Case) -> None:
    """Refusing everything would be safe and useless; nor does a byte order mark, which some servers and editors add."""
    for text, replacement in case.harmless:
        assert rows(case.parse(edited(case, text, replacement))) == case.expected
    assert rows(case.parse(b"\xef\xbb\xbf" + case.body)) == case.expected


@pytest.mark.parametrize("crossed_out", CROSSED_OUT)
@pytest.mark.parametrize(
    "case", [case for case in CASES if len(SHOWN_PRICE.findall(case.body)) >= len(case.expected) / 2], ids=of
)
def test_a_price_that_is_crossed_out_is_none(case: Case, crossed_out: str) -> None:
    """Sites leave the old price of a machine beside the new one, and that of one that is sold out alone."""
    old = crossed_out.format("$9.99/hr").encode()
    assert rows(case.parse(SHOWN_PRICE.sub(rb"\1" + old + rb" \2", case.body))) == case.expected
    with pytest.raises(LayoutChanged):
        case.parse(SHOWN_PRICE.sub(rb"\1" + crossed_out.encode().replace(b"{}", rb"\2"), case.body))


@pytest.mark.parametrize(
    ("case", "path"),
    [(case, path) for case in CASES for path in case.samples],
    ids=lambda item: item if isinstance(item, str) else of(item),
)
def test_a_captured_sample_gives_its_rows(case: Case, path: str, shared: Path) -> None:
    """What was captured from the provider, where somebody wrote down what stands in it."""
    body, expected = (shared / path).read_bytes(), case.samples[path]
    found = rows(case.parse(body))
    assert rows(case.parse(b"\xef\xbb\xbf" + body)) == found
    assert [{k: row.get(k) for k in want} for row, want in zip(found, expected, strict=True)] == expected
