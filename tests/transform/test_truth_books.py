"""Truth checks of the log and its sources as a whole: doors, books, markets, and chips without a range."""

from pathlib import Path

from looks import row
from truth_file import TWELVE, at, cloud, of, outcomes, published

API, BULK = "GetProducts", "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/1/us-east-1/index.csv"


def test_both_doors_of_aws_say_the_same(tmp_path: Path) -> None:
    """What changed just when the door did is told by the doors, and not by AWS; one door is no second reading."""
    prices = {"same": ("55.04", "55.04", API), "other": ("55.04", "56", API), "one": ("55.04", "56", BULK)}
    looks, urls = [], []
    for scope, (before, after, first) in prices.items():
        for moment, price, url in ((38, before, first), (39, before, first), (40, after, BULK)):
            looks.append(at(moment, row("p5.48xlarge", price, region_id=scope), source="aws_price_list", scope=scope))
            urls.append(url)
    found = outcomes(published(tmp_path, looks, urls=urls), "two_doors")

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


def test_the_books_are_audited(tmp_path: Path) -> None:
    """A log that does not add up is told, in figures."""
    looks = [at(39, *TWELVE), at(40, *TWELVE[1:], cloud("new", "19"), cloud("bad", "0"))]
    file = published(tmp_path / "well", looks)
    assert {check: of(outcomes(file, check)) for check in SPOILT} == dict.fromkeys(SPOILT, "holds")

    spoilt = published(tmp_path / "ill", looks, spoil=";".join(SPOILT.values()))

    for check in SPOILT:
        (worst,) = outcomes(spoilt, check)
        assert worst["result"] == "differs", check
        assert worst["example"]


def test_a_market_may_come_and_go(tmp_path: Path) -> None:
    """A source that is believed for a day only is a market: its offers are not held to stay."""
    looks = [at(38, *TWELVE, source="market"), at(39, *TWELVE[6:], source="market"), at(40, *TWELVE, source="market")]
    file = published(tmp_path, looks)

    assert of(outcomes(file, "came_back")) == "not_checked"
    assert of(outcomes(file, "still_seen")) == "not_checked"


def test_a_chip_without_a_range_is_not_checked(tmp_path: Path) -> None:
    """Unknown is counted and never holds: an older chip, and a price without a rate."""
    looks = [at(40, cloud("a", "3", accelerator_label="Tesla M2050"), cloud("b", "20", pricing_currency="EUR"))]
    found = outcomes(published(tmp_path, looks), "plausible_price")

    assert {each["result"] for each in found} == {"not_checked"}
    assert {each["subject"] for each in found} >= {"H100"}
