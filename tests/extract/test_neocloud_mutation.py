"""No edit of a document makes a source tell a price that does not stand there: see tests/neoclouds/mutation.py.

The short form runs with every test; the long one, thousands of edits of each fixture and of what was captured, with
`make prove`. Both print what became of them (pytest -s).
"""

import functools
import json
import re
import zlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from neoclouds.case import Case, cases
from neoclouds.edits import edits, kinds
from neoclouds.markets import MARKETS
from neoclouds.mutation import Edit, Tally, keys, table, tally
from neoclouds.spans import Spans

from extract.base import Parsed
from extract.neoclouds import offers
from warehouse.errors import LayoutChanged

CASES = [case for case in cases() if not case.gaps]
SHORT, LONG = 20, 1500
LEAST_RIGHT = 0.95
"""Share of the harmless edits that must still be read right: of all sources together, and of each in the long form."""
LEAST_RIGHT_SHORT = 0.75
"""The same of each source in the short form, which has about eight of them: two may be refused."""


BY_NAME = ("azure", "google_cloud", "oracle")
"""Whose machines are known by a table of ours: one that it lacks is told as unknown, and has no price."""


def of(case: Case) -> str:
    return case.source.name


def edited(case: Case, body: bytes, number: int) -> tuple[Tally, frozenset[str]]:
    """Return what became of so many edits, always the same ones for a source and a document."""
    seed = zlib.crc32(of(case).encode() + body)
    return tally(
        case.parse, body, edits(body, case.parse, seed=seed, number=number), quantiles=MARKETS.get(of(case))
    )  # fmt: skip


@functools.cache
def short(name: str) -> tuple[Tally, frozenset[str]]:
    """Return what became of the short form of one source."""
    case = next(case for case in CASES if of(case) == name)
    return edited(case, case.body, SHORT)


def told(result: Tally) -> str:
    """Return the edits that were read wrong, for a person who has to mend a parser."""
    return "\n".join(f"{edit.kind}: {what}" for edit, what in result.examples[:5])


@pytest.mark.parametrize("case", CASES, ids=of)
def test_no_row_is_made_up(case: Case) -> None:
    """Refused, or read as it still stands there: never anything else. What harms nothing is read nevertheless."""
    result, harmless = short(of(case))

    assert not result.examples, told(result)
    assert (result.share(harmless) or 0) >= LEAST_RIGHT_SHORT, result.pities[:3]


def test_harmless_edits_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    """To refuse everything would be safe, and useless."""
    tallies = {of(case): short(of(case)) for case in CASES}
    harmless = frozenset().union(*(kinds for _, kinds in tallies.values()))
    every = Tally()
    for result, _ in tallies.values():
        every.add(result)
    print(table({name: result for name, (result, _) in tallies.items()}, harmless))

    assert (every.share(harmless) or 0) >= LEAST_RIGHT
    assert every.refused.total() > every.tried.total() / 5  # edits that nobody need refuse would prove nothing
    assert "all" in capsys.readouterr().out


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_no_row_is_made_up_in_thousands_of_edits(shared: Path) -> None:
    """Of fixtures and of captured documents; fixtures, which have the whole form of an answer, are read if unharmed."""
    tallies: dict[str, Tally] = {}
    harmless: set[str] = set()
    for case in CASES:
        captures = (shared / "data/captures/neoclouds" / of(case)).glob("*")
        paths = [
            *(shared / path for path in case.samples),
            *(path for path in captures if ".expected." not in path.name),
        ]
        documents = {"": case.body} | {path.stem: path.read_bytes() for path in sorted(paths)}
        for name, body in documents.items():
            result, found = edited(case, body, LONG)
            tallies[f"{of(case)} {name}".strip()[:16]] = result
            harmless |= found
    print(table(tallies, harmless))

    wrong = [f"{name} {told(result)}" for name, result in tallies.items() if result.examples]
    assert not wrong, "\n".join(wrong)
    shares = {
        of(case): tallies[of(case)].share(harmless - ({"new chip"} if of(case) in BY_NAME else set())) or 0
        for case in CASES
    }
    assert {name: share for name, share in shares.items() if share < LEAST_RIGHT} == {}


# --- edits that sources once read wrong


@pytest.mark.parametrize(
    ("source", "text", "other"),
    [
        ("coreweave", "REGION: EUROPE</strong>", "REGION: EUROPE</strong><strong>REGION: EUROPE</strong>"),
        ("hyperbolic", '"vcpuCount": 20', '"vcpuCount": 0'),
        ("scaleway", '"mig_profile": null', '"mig_profile": "None"'),
        ("spheron", '"gpu_memory": 40', '"gpu_memory": 0'),
        ("ovh", '"commercial"', '"commerce"'),
        ("shadeform", '"vram_per_gpu_in_gb": 80', '"vram_per_gpu_in_gb": 0'),
    ],
)
def test_what_was_read_wrong_once(source: str, text: str, other: str) -> None:
    """A place doubled, a machine without cores, a slice called None, a chip of unknown memory, a plan of no kind."""
    case = next(case for case in CASES if of(case) == source)
    assert text.encode() in case.body

    result, _ = tally(case.parse, case.body, [Edit(kind="", body=case.body.replace(text.encode(), other.encode()))])

    assert not result.examples, told(result)


# --- the test itself: sources that guess are found out

PAGE = b"""<!DOCTYPE html><html><body><h1>Prices</h1><p>Pay by the hour.</p><h2>On demand</h2>
<table><tr><th>GPU</th><th>Memory</th><th>Price</th></tr>
<tr><td>H100 SXM</td><td>80 GB</td><td>$2.99</td></tr><tr><td>A100 SXM</td><td>40 GB</td><td>$1.49</td></tr>
<tr><td>L40S</td><td>48 GB</td><td>$0.99</td></tr></table>
<h2>Reserved</h2><table><tr><th>GPU</th><th>Memory</th><th>Price</th></tr>
<tr><td>B200 SXM</td><td>180 GB</td><td>$3.99</td></tr><tr><td>H200 SXM</td><td>141 GB</td><td>$2.89</td></tr></table>
</body></html>"""
ANSWER = json.dumps(
    {
        "count": 3,
        "machines": [
            {"id": f"m-000{number}", "chip": chip, "chips": chips, "price": price, "spot": False}
            for number, (chip, chips, price) in enumerate([("H100", 8, 23.92), ("A100", 4, 5.96), ("L40S", 1, 0.99)])
        ],
    }
).encode()


def rows(*found: tuple[str, object]) -> Parsed:
    return offers.parsed((offers.offer(label, Decimal(str(price))) for label, price in found), provider="Toy")


def by_position(body: bytes) -> Parsed:
    """Take the third cell of each row for the price, as collectors do."""
    lines = re.findall(r"<tr>(.*?)</tr>", body.decode(), flags=re.DOTALL)
    cells = [re.findall(r"<td>(.*?)</td>", line, flags=re.DOTALL) for line in lines]
    return rows(*((one[0], one[2].strip("$ ")) for one in cells if len(one) > 2 and re.fullmatch(r"\$[\d.]+", one[2])))


def by_first_dollar(body: bytes) -> Parsed:
    """Take the first amount behind each name for its price."""
    text = re.sub(r"<[^>]*>", " ", body.decode())
    return rows(*re.findall(r"([A-Z]\d+\w*(?: SXM)?)[^$]*\$([\d.]+)", text))


def with_fallback(body: bytes) -> Parsed:
    """Take half a dollar where a price is missing, and one chip where their number is."""
    return rows(*((one.get("chip", "H100"), one.get("price") or 0.5) for one in json.loads(body)["machines"]))


def by_order(body: bytes) -> Parsed:
    """Take the values of an object in their order, whatever their names."""
    return rows(*((values[1], values[3]) for values in map(list, map(dict.values, json.loads(body)["machines"]))))


def strict(body: bytes) -> Parsed:
    """Read the answer as the sources here do."""
    machines = json.loads(body, object_pairs_hook=_once)["machines"]
    for one in machines:
        if set(one) < {"id", "chip", "chips", "price", "spot"} or type(one["price"]) is not float:
            raise LayoutChanged("fields", source="toy")
        new = {
            name: one[name] for name in one if re.search(r"price|cost|rate", name, re.IGNORECASE) and name != "price"
        }
        if any(re.fullmatch(r"[\d.]+", str(value)) and not name.endswith("_at") for name, value in new.items()):
            raise LayoutChanged("money", source="toy")
        if type(one["spot"]) is not bool or not isinstance(one["chip"], str) or not one["chip"].strip():
            raise LayoutChanged("types", source="toy")
    return rows(*((one["chip"], one["price"]) for one in machines if not one["spot"]))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise LayoutChanged("a key twice", source="toy")
    return dict(pairs)


def guarded(parse: Callable[[bytes], Parsed]) -> Callable[[bytes], Parsed]:
    """Return a parser that refuses where it fails at all, so that only what it makes up counts against it."""

    def guard(body: bytes) -> Parsed:
        try:
            return parse(body)
        except LayoutChanged:
            raise
        except Exception as error:
            raise LayoutChanged(str(error), source="toy") from error

    return guard


@pytest.mark.parametrize(
    ("parse", "body", "by"),
    [
        (by_position, PAGE, {"exchange columns", "new column of prices", "drop text"}),
        (by_first_dollar, PAGE, {"words for a shown price", "second price", "drop cell", "drop text"}),
        (with_fallback, ANSWER, {"drop field", "null", "rename field everywhere", "words for a price"}),
        (by_order, ANSWER, {"shuffle fields"}),
    ],
)
def test_a_source_that_guesses_is_found_out(parse: Callable[[bytes], Parsed], body: bytes, by: set[str]) -> None:
    """By position, by the first dollar sign, with a fallback, by order: each makes rows up, and is seen to."""
    result, _ = tally(guarded(parse), body, edits(body, guarded(parse), seed=1, number=300))

    assert by <= {kind for kind, number in result.wrong.items() if number}


def test_a_strict_source_passes() -> None:
    """What refuses what it does not know makes nothing up, and still reads what harms nothing."""
    result, harmless = tally(guarded(strict), ANSWER, edits(ANSWER, guarded(strict), seed=1, number=300))

    assert not result.examples, told(result)
    assert (result.share(harmless) or 0) >= LEAST_RIGHT


def test_a_source_that_refuses_everything_reads_nothing() -> None:
    """Its share of harmless edits read right is none."""
    first = iter([strict(ANSWER)])

    def refusing(body: bytes) -> Parsed:
        for parsed in first:
            return parsed
        raise LayoutChanged("no", source="toy")

    result, harmless = tally(refusing, ANSWER, edits(ANSWER, guarded(strict), seed=1, number=100))

    assert not result.examples
    assert harmless
    assert result.share(harmless) == 0


def test_quantiles_are_computed_a_second_time() -> None:
    """A quantile that is not the one of the machines that are left is a row made up; the right one is none."""
    case = next(case for case in CASES if of(case) == "lium")
    answer = json.loads(case.body)
    del answer["nodes"][0]
    answer["count"] -= 1
    edit = Edit(kind="drop row", body=json.dumps(answer).encode())

    def shifted(body: bytes) -> Parsed:
        parsed = case.parse(body)
        if body == case.body:
            return parsed
        price = pl.when(pl.col("statistic") == "p25").then(pl.lit("1.2345")).otherwise(pl.col("unit_price"))
        return Parsed(rows=parsed.rows.with_columns(price.alias("unit_price")))

    assert keys(case.parse(edit.body)) != keys(case.parse(case.body))
    assert not tally(case.parse, case.body, [edit], quantiles=MARKETS["lium"])[0].examples
    assert tally(shifted, case.body, [edit], quantiles=MARKETS["lium"])[0].examples
    assert tally(shifted, case.body, [edit])[0].uncompared  # and without a second computation they are counted


def test_an_error_of_another_kind_counts_as_wrong() -> None:
    """A parser raises LayoutChanged and nothing else."""
    edit = Edit(kind="cut", body=ANSWER[:50])

    assert tally(strict, ANSWER, [edit])[0].wrong == {"cut": 1}


def test_a_new_chip_must_come_out() -> None:
    """A row for a chip that nobody knows is no harm, and to leave it out is not to read it."""
    known = {"H100", "A100", "L40S"}

    def closed(body: bytes) -> Parsed:
        return Parsed(rows=strict(body).rows.filter(pl.col("accelerator_label").is_in(known)))

    new = [edit for edit in edits(ANSWER, guarded(strict), seed=1, number=300) if edit.kind == "new chip"]

    assert tally(strict, ANSWER, new)[0].right["new chip"] == len(new) > 0
    assert tally(closed, ANSWER, new)[0].right["new chip"] == 0


def test_edits_are_the_same_each_time() -> None:
    """A finding can be looked at again."""
    one, other = (
        [edit.body for edit in edits(PAGE, by_position, seed=7, number=60)] for _ in range(2)
    )  # fmt: skip
    assert one == other
    assert len(set(one)) > 40


def test_every_kind_of_document_is_edited() -> None:
    """JSON, pages, JSON in a page, and data that stands escaped in a text have edits of their own, harmless too."""
    names = {of(case): kinds(case.body, case.parse).keys() for case in CASES}

    assert "drop field" in names["vultr"]
    assert "drop column" in names["digitalocean"]
    assert {"drop group", "drop element"} <= names["massedcompute"]
    assert {"drop item", "drop element", "drop group"} <= names["nebius"]
    for case in CASES:
        result, harmless = short(of(case))
        assert sum(result.tried[kind] for kind in harmless) >= SHORT / 10


def test_elements_stand_where_they_are_said_to() -> None:
    """Each element begins with its start tag and ends with its end tag, in pages of all sources."""
    for case in CASES:
        if case.fixture.endswith(".html"):
            spans = Spans(case.body.decode())
            closed = [one for one in spans.elements if one.end > one.outer]
            assert all(spans.text.startswith(f"<{one.tag}", one.start) for one in closed)
            assert all(spans.text[one.outer : one.end].startswith(f"</{one.tag}") for one in closed)
