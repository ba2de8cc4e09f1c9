"""What providers change every few months: a field more, a cell that says it in words, a comment behind the page.

A change that touches no price is read as before; one that touches one row refuses that row; only one that touches the
form refuses the document. Prints what became of each (pytest -s).
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from neoclouds.case import MOMENT, Case, cases, refused, rows
from neoclouds.json_tree import PAGES
from neoclouds.markets import MARKETS
from neoclouds.mutation import Edit, tally

from extract.base import Context, Parsed
from extract.neoclouds.offers import MAX_UNREAD
from extract.web.interface import Response
from warehouse.errors import LayoutChanged

CASES = {case.source.name: case for case in cases()}
LISTS = {
    "digitalocean": "sizes", "hyperbolic": "", "jarvislabs": "server_meta", "lium": "nodes", "ovh": "addons.pricings",
    "runpod": "data.gpuTypes", "scaleway": "servers", "shadeform": "instance_types", "spheron": "data.offers",
    "vast": "offers", "verda": "", "voltagepark": "results", "vultr": "plans",
}  # fmt: skip
"""Where the rows of each JSON answer are."""
SAMPLES = {"digitalocean": "data/neocloud_samples/digitalocean/sizes.json"}
PAGES_READ = tuple(name for name, case in CASES.items() if case.fixture.endswith(".html"))
NOTED = {
    "null": ("discount", None), "a price that is null": ("original_price", None),
    "a moment": ("price_updated_at", "2026-11-01T06:00:00Z"), "a flag": ("has_discount", False),
}  # fmt: skip
WORDS = ("Waitlist", "Request pricing", "Not available", "Coming Q1 2027", "$2.10 (promo)")
CELLS = {
    "coreweave": "/ Hour", "crusoe": "/GPU-hr", "hyperstack": "", "lambda": "",
}  # fmt: skip
"""Sources whose price cells may be words, with what stands behind a price."""


def answers_of(name: str, shared: Path) -> list[Any]:
    """Return the JSON documents of a source: its fixture, or a saved answer where the fixture is a page."""
    body = (shared / SAMPLES[name]).read_bytes() if name in SAMPLES else CASES[name].body
    return [json.loads(body)]


def rows_of(name: str, answer: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of an answer, of all its pages."""
    pages = answer[PAGES] if isinstance(answer, dict) and PAGES in answer else [answer]
    for page in pages:
        found = [page]
        for step in LISTS[name].split(".") if LISTS[name] else ():
            found = [one[step] for one in found if step in one]
            found = [inner for one in found for inner in (one if isinstance(one, list) else [one])]
        for one in found:
            yield from one if isinstance(one, list) else one.values() if name == "scaleway" else [one]


def read(name: str, answer: Any) -> Parsed:
    return CASES[name].parse(json.dumps(answer).encode())


def became(name: str, bodies: Iterable[bytes], before: bytes) -> Counter[str]:
    """Return what became of edited documents, and of how many; fail where a row is made up."""
    edits = (Edit(kind="", body=body) for body in bodies)
    result, _ = tally(CASES[name].parse, before, edits, quantiles=MARKETS.get(name))
    assert not result.examples, result.examples
    found = Counter({verdict: getattr(result, verdict).total() for verdict in ("refused", "by_row", "right")})
    return found + Counter(lost=result.tried.total() - found.total())


@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize("name", [name for name in LISTS if name != "ovh"])  # whose prices have a sign beside them
def test_a_currency_that_a_row_begins_to_name_is_that_of_its_price(name: str, is_inside: bool, shared: Path) -> None:
    """Dollars that became euros are near enough to pass for a small rise: no row of such an answer is read."""

    def name_in(row: dict[str, Any], currency: str) -> None:
        row |= {"billing": {"terms": {"currency": currency}}} if is_inside else {"billing_currency": currency}

    for answer in answers_of(name, shared):
        before = rows(read(name, answer))
        (own,) = {row["pricing_currency"] for row in before}
        for row in rows_of(name, answer):
            name_in(row, own.lower())
        assert rows(read(name, answer)) == before
        for other in (
            ("EUR", "\N{EURO SIGN}", "C$", "euro", "cents") if own == "USD" else ("usd", "US$", "\N{POUND SIGN}")
        ):
            for row in rows_of(name, answer):
                name_in(row, other)
            with pytest.raises(LayoutChanged, match=f"expected prices in {own}"):
                read(name, answer)


@pytest.mark.parametrize(
    ("said", "harmless"),
    [
        ({"is_spot": True}, {"is_spot": False}),
        ({"isSpot": True}, {"isSpot": False}),
        ({"pricing": "preemptible"}, {"pricing": "standard"}),
        ({"plan": "Reserved"}, {"plan": "standard"}),
        ({"is_spot_instance": "true"}, {"is_spot_instance": "false"}),
        ({"market": "Spot instance"}, {"market": "On-demand instance"}),
        ({"sold": {"as": {"spot": True}}}, {"sold": {"as": {"spot": False}}}),
    ],
)
@pytest.mark.parametrize("name", ["digitalocean", "hyperbolic", "runpod", "shadeform", "voltagepark", "vultr"])
def test_a_row_that_says_how_else_it_is_bought_is_refused(
    name: str, said: dict[str, Any], harmless: dict[str, Any], shared: Path
) -> None:
    """A provider puts its spot machines, or reserved ones, among the others, with a new field that tells them."""
    for answer in answers_of(name, shared):
        before = rows(read(name, answer))
        for row in rows_of(name, answer):
            row |= harmless
        assert rows(read(name, answer)) == before
        for row in rows_of(name, answer):
            row |= said
        with pytest.raises(LayoutChanged, match="in a row of another option"):
            read(name, answer)


@pytest.mark.parametrize(
    "said", [{"billing_period": "month"}, {"sold": {"price_unit": "per day"}}, {"per": "Monthly"}, {"billing": "/mo"}]
)
@pytest.mark.parametrize("name", [name for name in LISTS if name != "ovh"])  # which says intervalUnit, and has months
def test_a_row_that_says_that_its_price_is_of_a_month_is_refused(name: str, said: dict[str, Any], shared: Path) -> None:
    """A field that says that it is of an hour is nothing new."""
    for answer in answers_of(name, shared):
        before = rows(read(name, answer))
        for row in rows_of(name, answer):
            row["billing_period"] = "hourly"
        assert rows(read(name, answer)) == before
        for row in rows_of(name, answer):
            row |= said
        with pytest.raises(LayoutChanged, match="in a row of another unit"):
            read(name, answer)


@pytest.mark.parametrize("inside", [None, "meta"])
@pytest.mark.parametrize("name", ["runpod", "voltagepark", "jarvislabs", "shadeform", "lium", "spheron", "vultr"])
def test_a_currency_of_the_whole_answer_is_us_dollars(name: str, inside: str | None) -> None:
    """Named at its top, where rows name none."""

    def read_with(currency: str) -> list[dict[str, Any]]:
        answer = json.loads(CASES[name].body)
        top = answer[PAGES][0] if PAGES in answer else answer
        top |= {inside: top.get(inside, {}) | {"currency": currency}} if inside else {"currency": currency}
        return rows(read(name, answer))

    assert read_with("usd") == CASES[name].expected
    with pytest.raises(LayoutChanged, match="expected prices in USD"):
        read_with("EUR")


class OneAnswer:
    """A web with one answer."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def get(self, url: str, **_: Any) -> Response:
        return Response(url=url, body=self.body, status=200, content_type="application/json")

    post = get


ONE_PAGE = ("jarvislabs", "lium", "oracle", "ovh", "runpod", "shadeform", "voltagepark")
"""Sources that ask for one page."""


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ({"hasMore": True}, {"hasMore": False}),
        ({"next": "/v2?cursor=b"}, {"next": None}),
        ({"meta": {"nextPage": 2}}, {"meta": {"nextPage": 0}}),
        ({"pagination": {"next_cursor": "b"}}, {"pagination": {"next_cursor": ""}}),
        ({"total": 4000}, {"total": 1}),
        ({"meta": {"total_count": 4000}}, {"meta": {"total_count": 0}}),
    ],
)
@pytest.mark.parametrize("name", ONE_PAGE)
def test_an_answer_that_names_more_pages_ends_no_offer(name: str, more: dict[str, Any], less: dict[str, Any]) -> None:
    """Its prices count; of what it does not show, it says nothing."""
    case = CASES[name]
    for said, whole in ((more, False), (less, True), ({}, True)):
        body = json.dumps(json.loads(case.body) | said).encode()
        ctx = Context(web=OneAnswer(body), settings={}, now=lambda: MOMENT)  # type: ignore[arg-type]

        fetched = case.source.fetch(ctx, "FR" if name == "ovh" else "all")

        (field,) = said or {"": None}
        assert fetched.complete == whole
        assert whole == (not fetched.notes)
        assert whole or "so this answer ends no offer" in fetched.notes[0], field
        assert rows(case.parse(fetched.documents[0].body)) == case.expected


@pytest.mark.parametrize("name", LISTS)
def test_a_new_field_without_an_amount_is_noted(name: str, shared: Path) -> None:
    """In every row or in one: all prices are read, and the note names the field."""
    for answer in answers_of(name, shared):
        expected = rows(read(name, answer))
        for field, value in NOTED.values():
            for many in (True, False):
                edited = json.loads(json.dumps(answer))
                for one in list(rows_of(name, edited))[: None if many else 1]:
                    one[field] = value
                found = read(name, edited)
                assert rows(found) == expected, (field, many)
                assert found.refused == ()
                assert [one for one in found.unknown if field in one], (field, many)


@pytest.mark.parametrize("name", LISTS)
def test_a_new_field_with_an_amount_refuses(name: str, shared: Path) -> None:
    """Of all rows with a price the whole answer, of one its row; in a row without a price it is nothing."""
    for answer in answers_of(name, shared):
        edited = json.loads(json.dumps(answer))
        for one in rows_of(name, edited):
            one["promo_price"] = 1.11
        with pytest.raises(LayoutChanged, match="unknown field about money"):
            read(name, edited)
        bodies = []
        for place in range(len(list(rows_of(name, answer)))):
            edited = json.loads(json.dumps(answer))
            list(rows_of(name, edited))[place]["promo_price"] = 1.11
            bodies.append(json.dumps(edited).encode())
        verdicts = became(name, bodies, json.dumps(answer).encode())
        print(f"{name}: promo_price in one row: {dict(verdicts)}")
        assert verdicts["lost"] == 0
        assert verdicts["refused"] + verdicts["by_row"] > 0


def many(name: str, shared: Path) -> Any:
    """Return the richest answer of a source: its fixture, or what was captured; of Lium each node three times."""
    case = CASES[name]
    if name == "lium":
        answer = json.loads(case.body)
        answer["nodes"] = [one | {"id": f"{one['id']}{copy}"} for one in answer["nodes"] for copy in "abc"]
        return answer | {"count": len(answer["nodes"])}
    if name == "vast":
        return json.loads(case.body)
    captures = sorted((shared / "data/captures/neoclouds" / name).glob("*.json"))
    paths = [path for path in [*(shared / one for one in case.samples), *captures] if path.suffix == ".json"]
    found = [CASES[name].body, *(path.read_bytes() for path in paths if ".expected." not in path.name)]
    return json.loads(max(found, key=lambda body: len(case.parse(body).rows)))


RICH = ("runpod", "lium", "shadeform", "spheron", "vast", "verda", "vultr", "scaleway", "hyperbolic")
"""Sources of which a document with so many rows is at hand that one of them is less than a fifth."""


@pytest.mark.parametrize("name", RICH)
def test_one_null_field_refuses_no_more_than_its_row(name: str, shared: Path) -> None:
    """Whichever field of whichever row it is. A market is refused whole: its quantiles are of all its rows."""
    answer = many(name, shared)
    before, bodies = json.dumps(answer).encode(), []
    first = max(range(len(list(rows_of(name, answer)))), key=lambda place: len(list(rows_of(name, answer))[place]))
    for field in list(rows_of(name, answer))[first]:
        edited = json.loads(before)
        list(rows_of(name, edited))[first][field] = None
        bodies.append(json.dumps(edited).encode())
    verdicts = became(name, bodies, before)
    print(f"{name}: one null in one row: {dict(verdicts)}")
    wanted, other = ("refused", "by_row") if name in MARKETS else ("by_row", "refused")
    assert verdicts[other] == 0
    assert verdicts[wanted] > 0


@pytest.mark.parametrize("name", RICH)
def test_a_fifth_of_the_rows_refuse_the_answer(name: str, shared: Path) -> None:
    """A field that is null everywhere is another layout."""
    answer = many(name, shared)
    last, bodies = list(rows_of(name, answer))[-1], []
    for field in last:
        edited = json.loads(json.dumps(answer))
        for one in rows_of(name, edited):
            if field in one:
                one[field] = None
        bodies.append(json.dumps(edited).encode())
    verdicts = became(name, bodies, json.dumps(answer).encode())
    assert verdicts["refused"] > 0
    assert MAX_UNREAD < 1


@pytest.mark.parametrize("name", PAGES_READ)
@pytest.mark.parametrize("noise", ["<!-- $1.11 -->", "\n<script>x='$1.11'</script>\n<!-- a -->\n", "<!-- cut sho"])
def test_what_stands_behind_a_page_is_no_damage(name: str, noise: str) -> None:
    """Comments and scripts of caches and counters; anything else is."""
    case = CASES[name]
    whole = case.body.rstrip()
    if not whole.lower().endswith(b"</html>"):
        whole = b"<!DOCTYPE html><html><body>" + whole + b"</body></html>"
    assert rows(case.parse(whole + noise.encode())) == rows(case.parse(whole)) == case.expected
    with pytest.raises(LayoutChanged, match="cut short"):
        case.parse(whole + b"<p>$1.11</p>")


def page_of(name: str, shared: Path) -> str:
    """Return the richest page of a source."""
    folder = shared / "data/captures/neoclouds" / name
    pages = [CASES[name].body, *(path.read_bytes() for path in sorted(folder.glob("*.html")))]
    return max(pages, key=lambda body: len(CASES[name].parse(body).rows)).decode()


@pytest.mark.parametrize("name", CELLS)
def test_words_in_a_price_cell_refuse_its_row(name: str, shared: Path) -> None:
    """The others are read; who goes on to the next dollar sign would give the row the next one's price."""
    page = page_of(name, shared)
    places = [found.span() for found in re.finditer(r"\$\d[\d.]*(?:\s?/GPU-hr)?(?=<| ?/ Hour)", page)]
    edited = (f"{page[:start]}{words}{page[end:]}".encode() for start, end in places[:4] for words in WORDS)
    verdicts = became(name, edited, page.encode())
    print(f"{name}: words for a price: {dict(verdicts)}")
    assert verdicts["by_row"] > 0
    assert verdicts["refused"] == 0


def test_a_refused_row_says_why(shared: Path) -> None:
    """The reason, the field, its value, and the row as it stands there."""
    case: Case = CASES["lambda"]
    parsed = case.parse(page_of("lambda", shared).replace("$4.29", "Waitlist", 1).encode())

    (one,) = parsed.refused
    assert (one.reason, one.field, one.value) == (
        "neither a price nor a text for no price",
        "PRICE/GPU/HR*",
        "Waitlist",
    )
    assert "Waitlist" in one.content
    assert len(parsed.rows) == 27
    assert "Waitlist" not in refused(lambda: case.parse(page_of("lambda", shared).replace("/HR*", "/MONTH*").encode()))
