"""The costs in docs/warehouse-shared.md are what its own formulas give of its own numbers."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "warehouse-shared.md").read_text(encoding="utf-8")
LINES = ("machines", "catalogue", "storage", "requests", "transfer to 10 readers outside")
HOURS, DAYS, READERS, KEPT = 730, 30.4, 10, 30


def cells(start: str) -> list[str]:
    """Return what stands behind the first cell of the only line that begins so."""
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def numbers(text: str) -> list[float]:
    """Return the numbers in a text."""
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*\.?\d*", text)]


@pytest.mark.parametrize("place", range(3), ids=["1", "100", "10000"])
def test_costs_are_what_the_formulas_give(place: int) -> None:
    """Machines, catalogue, storage, requests and transfer, and their sum, to the cent."""

    def one(start: str) -> list[float]:
        return numbers(cells(start)[place])

    (large,), (disk,), (sent,) = (
        numbers(cells(name)[0]) for name in ("`m7g.large`", "RDS storage", "transfer to the internet")
    )
    small, medium = numbers(cells("`db.t4g.small`")[0])
    stored, put, got = numbers(cells("S3 Standard")[0])
    catalogue = cells("catalogue, assumed")[place]
    gigabytes, *zones = numbers(catalogue)
    n_zones = zones[0] if zones else 1
    (published,), (landing,), (log,) = one("published file"), one("landing, GB"), one("log, GB")
    writes, reads = one("writes, reads a day")
    expected = [
        one("machines, in")[0] * large * HOURS,
        n_zones * ((small if "small" in catalogue else medium) * HOURS + gigabytes * disk),
        (landing + KEPT * published + log) * stored,
        writes * DAYS * put / 1000 + reads * DAYS * got / 1000,
        READERS * published * DAYS * sent,
    ]
    told = [one(f"**{name}, USD**")[0] for name in LINES]
    assert told == pytest.approx(expected, abs=0.006)
    assert one("**in all")[0] == pytest.approx(sum(expected), abs=0.011)
    assert one("one file on one such machine")[0] == told[0]


def test_each_assumed_price_says_who_reports_it() -> None:
    """No price stands without an address, or a word that it is of the one above."""
    for start in ("`m7g.large`", "`db.t4g.small`", "RDS storage", "S3 Standard", "transfer to the internet"):
        assert re.search(r"\]\(https://|the same", cells(start)[-1]), start
