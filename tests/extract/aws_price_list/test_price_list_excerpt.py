"""The excerpt of a bulk file: what a full reading by the csv module finds, the excerpt holds, however files change."""

import random
from collections.abc import Iterator

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from price_list_files import COLUMNS, P5, document, offer_csv, plain_csv, reserved, same

from extract.aws import price_list
from extract.aws.bulk import Excerpt
from extract.aws.price_list import parse
from warehouse.documents import Whole
from warehouse.errors import LayoutChanged

Lines = list[dict[str, str]]


def blocks(body: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def cut(body: bytes, size: int = 1 << 20) -> Excerpt:
    return price_list.cut(blocks(body, size), url="https://x/index.csv")


def machines(seed: int, *, of: list[tuple[str, str, str]], per_type: int = 4) -> Lines:
    """Return lines of all kinds for types given as (type, family, gpu), SKUs in a random order, like AWS's."""
    dice = random.Random(seed)  # noqa: S311
    lines: Lines = []
    products = []
    for instance_type, family, gpu in of:
        for number in range(per_type):
            systems = [("Linux", "RunInstances"), ("Windows", "RunInstances:0002"), ("Linux", "RunInstances:CB")]
            system, operation = systems[number % 3] if number else systems[0]
            product = P5 | {
                "SKU": f"{dice.randrange(16**12):012X}",
                "Instance Type": instance_type,
                "Instance Family": family,
                "GPU": gpu,
                "Operating System": system,
                "operation": operation,
                "Tenancy": dice.choice(["Shared", "Shared", "Dedicated"]) if number else "Shared",
                "PricePerUnit": f"{dice.random() * 50:.10f}",
                "PriceDescription": f'$1 per "On Demand" {system}, {instance_type}',
                "MarketOption": "CapacityBlock" if operation.endswith(":CB") else "OnDemand",
            }
            products.append(product)
    for product in sorted(products, key=lambda each: each["SKU"]):
        lines.append(product)
        lines += reserved(product, lease="1yr", payment="Partial Upfront", hourly="0.1000000000", upfront="99")
    return lines


CPUS = [(f"m{n}.{size}", "General purpose", "") for n in range(4, 9) for size in ("large", "xlarge")]
CHIPS = [
    ("p5.48xlarge", "GPU instance", "8"),
    ("trn1n.32xlarge", "Machine Learning ASIC Instances", ""),
    ("f2.6xlarge", "FPGA Instances", ""),
    ("vt1.3xlarge", "Media Accelerator Instances", ""),
    ("g6f.large", "GPU instance", "0.125"),
]
ADVERSARIES = {
    "as it is": [],
    "a renamed family": [("p6.48xlarge", "Accelerated computing", "8")],
    "an accelerator under a CPU family": [("p7.48xlarge", "General purpose", "")],
    "a new type with a GPU count only": [("zx1.48xlarge", "Memory optimized", "16")],
    "a new family": [("q1.large", "Quantum instances", "")],
    "no family": [("y1.large", "", "")],
}


@pytest.mark.parametrize("size", [1, 200, 777, 4096, 1 << 20])
@pytest.mark.parametrize("what", ADVERSARIES)
def test_the_excerpt_says_what_the_whole_says(what: str, size: int) -> None:
    """Same rows and same unknown names as from the whole file, for any block size and whatever AWS adds or renames."""
    whole = offer_csv(machines(1, of=CPUS[:3] + CHIPS + ADVERSARIES[what], per_type=2 if size == 1 else 4))

    kept = cut(whole, size)
    from_whole, from_kept = parse(document(whole)), parse(document(kept.body))

    assert same(from_whole.rows, from_kept.rows)
    assert from_whole.rows.height >= 2 * len(CHIPS)
    assert from_whole.unknown == from_kept.unknown
    assert kept.whole == Whole(size=len(whole), digest=blake3(whole).hexdigest(), algorithm="blake3")


def test_the_excerpt_holds_what_a_plain_reading_selects() -> None:
    """By the csv module alone: all of Linux, Shared, RunInstances with an accelerator is there, as received."""
    whole = offer_csv(machines(2, of=CPUS + CHIPS))

    expected = [
        line
        for line in plain_csv(whole)
        if (line["Operating System"], line["Tenancy"]) == ("Linux", "Shared")
        and line["operation"] in ("RunInstances", "RunInstances:CB")
        and line["Instance Family"] != "General purpose"
    ]
    kept = cut(whole, 5000).body

    assert plain_csv(kept) == expected
    assert set(kept.splitlines(keepends=True)) <= set(whole.splitlines(keepends=True))
    assert len(kept) < len(whole) / 2


@pytest.mark.parametrize(
    "columns",
    [
        COLUMNS[::-1], sorted(COLUMNS), [c for c in COLUMNS if c != "GPU"],
        [c for c in COLUMNS if c != "Product Family"],
        [*sorted(set(COLUMNS) - {"Product Family"}), "Product Family"],
    ],
    ids=["backwards", "sorted", "no GPU", "no product family", "product family last"],
)  # fmt: skip
def test_columns_may_move(columns: list[str]) -> None:
    """Product columns that stand before the price are read as well, only slower."""
    whole = offer_csv(machines(3, of=CPUS + CHIPS), columns=columns)

    assert same(parse(document(whole)).rows, parse(document(cut(whole, 700).body)).rows)


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("quoted", [True, False])
def test_quotes_and_line_ends_may_change(ends: bytes, quoted: bool) -> None:
    """A file without quotes has nothing to search for, and is read line by line; Windows line ends are kept."""
    lines = [line | {"PriceDescription": "plain"} for line in machines(4, of=CPUS + CHIPS)]
    whole = offer_csv(lines).replace(b"see ...", b"...").replace(b"\n", ends)
    if not quoted:
        whole = whole.replace(b"purposes only, ", b"purposes only ").replace(b'"', b"")

    kept = cut(whole, 900).body

    assert same(parse(document(whole)).rows, parse(document(kept)).rows)
    assert parse(document(kept)).rows.height > 0


def test_a_file_that_loses_its_quotes_half_way_is_read() -> None:
    """The first line of each block shows whether there are quotes to search for."""
    lines = [line | {"PriceDescription": "plain"} for line in machines(5, of=CHIPS)]
    quoted = offer_csv(lines)
    bare = b"".join(line.replace(b'"', b"") for line in quoted.splitlines(keepends=True)[6:])
    whole = quoted + bare.replace(b"Linux", b"Linux")

    assert same(parse(document(whole)).rows, parse(document(cut(whole, 200).body)).rows)


@pytest.mark.parametrize("missing", [1, 5, 40, 400])
def test_a_cut_file_stays_cut(missing: int) -> None:
    """A last line without its end is in the excerpt, so that parse refuses the document."""
    whole = offer_csv(machines(6, of=CPUS))[:-missing]

    with pytest.raises(LayoutChanged):
        parse(document(cut(whole, 300).body))


def test_a_line_of_another_width_is_kept_to_be_refused() -> None:
    """A line that cannot be read is no reason to leave it out."""
    whole = offer_csv([P5]) + b'"SKU","RunInstances","Linux"\n'

    with pytest.raises(LayoutChanged, match="fields"):
        parse(document(cut(whole, 100).body))


@pytest.mark.parametrize("body", [b"<html></html>", b'{"products": {}}', b"", b"x" * (2 << 20), b'"a","b"\n' * 30])
def test_no_price_list_no_excerpt(body: bytes) -> None:
    """Another document is refused before any of it is kept."""
    with pytest.raises(LayoutChanged):
        cut(body, 64 << 10)


def test_a_missing_column_stops_the_reading() -> None:
    """The header tells at once; the rest of the file is not fetched."""
    body = offer_csv(machines(7, of=CPUS), columns=[c for c in COLUMNS if c != "Tenancy"])
    taken = []

    def counted() -> Iterator[bytes]:
        for block in blocks(body, 1000):
            taken.append(block)
            yield block

    with pytest.raises(LayoutChanged, match="Tenancy"):
        price_list.cut(counted(), url="https://x/index.csv")

    assert len(taken) < 4


def test_a_line_without_an_end_is_no_price_list() -> None:
    """Megabytes without a line end are refused, not gathered."""
    body = offer_csv([P5]) + b"x" * (4 << 20)

    with pytest.raises(LayoutChanged, match="longer than"):
        cut(body, 64 << 10)


WORDS = st.sampled_from(
    ["", "NA", "Linux", "Shared", "RunInstances", "RunInstances:CB", "8", 'a"b', "a,b", "p5.48xlarge"]
)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), size=st.integers(min_value=1, max_value=900))
def test_any_words_in_any_columns(data: st.DataObject, size: int) -> None:
    """Markers in the wrong columns, quotes and commas in values: the excerpt still says what the whole says."""
    lines = [
        {column: data.draw(WORDS) for column in COLUMNS} | data.draw(st.sampled_from([{}, P5, CHIP]))
        for _ in range(data.draw(st.integers(min_value=0, max_value=6)))
    ]
    whole = offer_csv([line | {"TermType": "OnDemand"} for line in lines])

    from_whole, from_kept = parse(document(whole)), parse(document(cut(whole, size).body))

    assert same(from_whole.rows, from_kept.rows)


CHIP = {"Instance Type": "trn1.32xlarge", "Operating System": "Linux", "Tenancy": "Shared", "operation": "RunInstances"}
