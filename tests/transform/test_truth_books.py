"""Truth checks of the log and its sources as a whole: doors, books, markets, and chips without a range."""

from pathlib import Path

import pytest
from looks import row
from truth_file import TWELVE, at, cloud, of, outcomes, published

OTHER_AMOUNT = """
insert into log.price_other by name
select offer_no, fetch_no, unit_price + 1 as unit_price, recorded_at as retracts_recorded_at from log.price_open
where unit_price is not null
"""
"""A retraction of each price's moment, but not of its amount: it retracts nothing."""
BOOKS = [at(39, *TWELVE), at(40, *TWELVE[1:], cloud("new", "19"), cloud("bad", "0"))]
API, BULK = "GetProducts", "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.csv"


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file whose books add up, of a cloud, and of AWS by one door and two."""
    prices = {"same": ("55.04", "55.04", API), "other": ("55.04", "56", API), "one": ("55.04", "56", BULK)}
    looks, urls = [], []
    for scope, (before, after, first) in prices.items():
        for moment, price, url in ((38, before, first), (39, before, first), (40, after, BULK)):
            looks.append(at(moment, row("p5.48xlarge", price, region_id=scope), source="aws_price_list", scope=scope))
            urls.append(url)
    urls += ["https://x.test/"] * len(BOOKS)
    return published(tmp_path_factory.mktemp("well"), [*looks, *BOOKS], urls=urls, spoil=OTHER_AMOUNT)


def test_both_doors_of_aws_say_the_same(well: Path) -> None:
    """What changed just when the door did is told by the doors, and not by AWS; one door is no second reading."""
    found = outcomes(well, "two_doors")

    assert [(each["subject"], each["result"], each["n_compared"]) for each in found] == [
        ("aws_price_list other", "differs", 1), ("aws_price_list same", "holds", 1),
    ]  # fmt: skip


SPOILT = {
    "refused_rows_add_up": "update log.scope_fetch set n_refused = n_refused + 1",
    "accepted_rows_add_up": "update log.scope_fetch set n_rows = n_rows + 1",
    "events_are_changes": "insert into log.scope_fetch by name select 1000 + fetch_no as fetch_no, source, scope, "
    "observed_at + interval 1 hour as observed_at, document_no, recorded_at + interval 1 hour as recorded_at "
    "from log.scope_fetch; insert into log.price_other by name select offer_no, 1000 + fetch_no as fetch_no, "
    "unit_price, upfront_price from log.price_open",
}


def test_the_books_are_audited(well: Path, tmp_path: Path) -> None:
    """A log that does not add up is told, in figures."""
    assert {check: of(outcomes(well, check)) for check in SPOILT} == dict.fromkeys(SPOILT, "holds")

    spoilt = published(tmp_path, BOOKS, spoil=";".join(SPOILT.values()))

    for check in SPOILT:
        (worst,) = outcomes(spoilt, check)
        assert worst["result"] == "differs", check
        assert worst["example"]


def test_a_market_may_come_and_go_and_an_old_chip_cost_anything(tmp_path: Path) -> None:
    """Offers of a source believed for a day only need not stay; unknown is counted: an older chip, and no rate."""
    old = [cloud(f"m{n}", "3", accelerator_label="Tesla M2050") for n in range(12)]
    looks = [at(moment, *shown, source="market") for moment, shown in ((38, old), (39, old[6:]), (40, old))]
    file = published(tmp_path, [*looks, at(40, cloud("b", "20", pricing_currency="EUR"))])

    assert of(outcomes(file, "came_back")) == "not_checked"
    assert of(outcomes(file, "still_seen")) == "not_checked"
    found = outcomes(file, "plausible_price")
    assert {each["result"] for each in found} == {"not_checked"}
    assert {each["subject"] for each in found} >= {"H100"}
