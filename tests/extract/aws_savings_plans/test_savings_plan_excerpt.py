"""The excerpt of a Savings Plan file: all that can be a price, whatever the blocks it comes in."""

import csv
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from savings_plan_files import csv_file, document, rates

from extract.aws import savings_plans
from extract.aws.savings_plans import SOURCE
from warehouse.errors import LayoutChanged


@pytest.fixture(scope="module")
def whole(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a Savings Plan file of 5,000 rates in AWS's format, the types of CPUs and other systems among them."""
    folder = tmp_path_factory.mktemp("offer")
    tool = shared / "tools" / "make_offer_csv.py"
    command = [sys.executable, tool, folder / "offer.csv", "--rows", "10000", "--sp", folder / "sp.csv"]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "sp.csv").read_bytes()


@pytest.mark.parametrize("step", [997, 1 << 16, 1 << 30])
def test_the_excerpt_has_all_prices_of_the_file(whole: bytes, step: int) -> None:
    """Whatever the blocks: the excerpt gives the prices of the whole file, and knows its size and hash."""
    kept = savings_plans.cut((whole[at : at + step] for at in range(0, len(whole), step)), url="https://x")

    from_whole, from_kept = (SOURCE.parse(document(body)) for body in (whole, kept.body))
    assert from_whole.rows.height > 100
    assert from_kept.rows.equals(from_whole.rows)
    assert len(kept.body) < len(whole) / 10
    assert kept.whole.size == len(whole)


def test_every_rate_of_a_file_is_read(whole: bytes) -> None:
    """As many rates as a plain reading as CSV finds."""
    plain = list(csv.DictReader(whole.decode().splitlines()[5:]))

    found = rates(document(whole))

    assert found.height == len(plain)
    assert found.select(pl.struct("rate_code", "operation").n_unique()).item() == len(plain)


def test_the_excerpt_keeps_what_may_be_a_price() -> None:
    """Families without a size, SageMaker's machines and unknown usage stay; other systems and CPUs go."""
    lines = {
        "P9": {"DiscountedUsageType": "BoxUsage:x", "DiscountedInstanceType": "P9"},
        "ml": {
            "DiscountedUsageType": "EU-Host:ml.g5.xlarge",
            "DiscountedOperation": "CreateThing",
            "DiscountedInstanceType": "ml.g5.xlarge",  # named twice, kept once
        },
        "leased": {"DiscountedUsageType": "LeasedBox:trn3.48xlarge", "DiscountedInstanceType": ""},
        "cpu": {"DiscountedUsageType": "BoxUsage:m5.xlarge", "DiscountedInstanceType": "m5.xlarge"},
        "windows": {"DiscountedOperation": "RunInstances:0002"},
    }
    body = csv_file(*({"RateCode": name, **line} for name, line in lines.items()))

    kept = savings_plans.cut([body], url="https://x")

    assert rates(document(kept.body))["rate_code"].to_list() == ["P9", "ml", "leased"]


def test_a_line_without_an_end_is_kept_and_refused() -> None:
    """A file that was cut short where nobody noticed is refused when it is parsed."""
    kept = savings_plans.cut([csv_file({})[:-10]], url="https://x")

    with pytest.raises(LayoutChanged):
        SOURCE.parse(document(kept.body))


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"a" * (3 << 20), csv_file({}) + b"a" * (3 << 20), csv_file({}).replace(b"\nSKU,", b'\n"SKU",')],
)
def test_what_is_no_list_of_rates_is_not_cut(body: bytes) -> None:
    """HTML, no header, a line without end, and a quoted header, in whose lines nothing would be found."""
    with pytest.raises(LayoutChanged):
        savings_plans.cut([body[at : at + (1 << 20)] for at in range(0, len(body), 1 << 20)], url="https://x")
