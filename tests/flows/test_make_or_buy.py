"""Prices of hosted models from a CSV: a wrong cell is named."""

import re
from pathlib import Path

import pytest

from flows.decisions import hosted
from warehouse.errors import ChipledgerError

HEAD = "provider,model,input_usd_per_million,output_usd_per_million,cached_input_usd_per_million,as_of,url\n"
LINE = "Host,llama-3-70b,0.5,2,,2026-11-01,https://example.com/pricing\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "the table is empty"),
        (LINE.replace("0.5", "cheap"), "line 2: not a number (field input_usd_per_million, value cheap)"),
        (LINE.replace("0.5", "-1"), "line 2: below 0 (field input_usd_per_million, value -1)"),
        (LINE.replace("0.5", "NaN"), "line 2: not a number (field input_usd_per_million, value NaN)"),
        (LINE.replace("0.5", ""), "line 2: empty (field input_usd_per_million"),
        (
            LINE.replace("2,,", "2,0.6,"),
            "above the price of input, 0.5 (field cached_input_usd_per_million, value 0.6)",
        ),
        (LINE.replace("2026-11-01", "yesterday"), "not a date such as 2026-11-21"),
        (LINE.replace("https://example.com/pricing", "a page"), "not an address"),
        (LINE + LINE.replace("0.5", "0.6"), "line 3: a second price of the same model, provider and day"),
        (LINE.replace("Host,", ""), "more or fewer cells than columns"),
    ],
)
def test_a_wrong_cell_is_named(lines: str, said: str, tmp_path: Path) -> None:
    """Line, field and value are told."""
    file = tmp_path / "hosted.csv"
    file.write_text(HEAD + lines, encoding="utf-8")

    with pytest.raises(ChipledgerError, match=re.escape(said)):
        hosted.read(file, None, price=None, model=None)
