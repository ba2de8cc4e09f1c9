"""Providers side by side on the page: each number is the mart's, marked for what it is; what is unknown is counted."""

import html
import re
import shutil
from pathlib import Path

import duckdb
import market_file
import polars as pl
import pytest
from market_file import HOSTILE

from reports import wording
from reports.pages import daily_page
from reports.queries import frame
from reports.tables import price_tables
from reports.tables.table import to_html

Cells = dict[str, str]


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return market_file.market(tmp_path_factory)


@pytest.fixture(scope="module")
def prices(market: Path) -> pl.DataFrame:
    return daily_page.read(market)["provider_price"]


@pytest.fixture(scope="module")
def page(market: Path) -> str:
    (text,) = daily_page.render(daily_page.read(market), ["latest.html"])
    return text


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def table(page: str, option: str) -> str:
    found = re.search(rf'<div class="frame" id="providers-{option}".*?</table>', page, re.DOTALL)
    assert found, option
    return found[0]


def rows(page: str, option: str = "on-demand") -> list[Cells]:
    """Return the cells of a table as texts, by their heads, each with the group it stands in."""
    text = table(page, option)
    heads = [text_of(head) for head in re.findall(r'<th[^>]*scope="col"[^>]*>(.*?)</th>', text, re.DOTALL)]
    found, group = [], ""
    for line in re.findall(r"<tr[^>]*>(.*?)</tr>", text[text.index("<tbody") :], re.DOTALL):
        if "gt_group_heading" in line:
            group = text_of(line)
        elif "gt_stub" in line:
            cells = [text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL)]
            found.append({"group": group, **dict(zip(heads, cells, strict=True))})
    return found


def row(page: str, provider: str, option: str = "on-demand") -> Cells:
    (found,) = [cells for cells in rows(page, option) if cells["Provider, tier"].startswith(provider)]
    return found


PRICE = "Cheapest seen USD per chip-hour"
MEDIAN = "Median USD per chip-hour"


def test_a_price_stands_with_its_distance_from_aws_its_age_and_its_document(page: str) -> None:
    """40 for 8 chips is 5 each, half of AWS's 10 for a node."""
    found = row(page, "Alpha")
    assert found["group"].startswith("H100 SXM, node of 8+ (")
    assert (found[PRICE], found["Against AWS"], found[MEDIAN]) == ("5.00", "\N{MINUS SIGN}50.0 % AWS 10.00", "5.00")
    assert found["Provider, tier"] == "Alpha a tier with a long name that has to wrap somewhere, Ethernet"
    assert found["Last confirmed, age"] == "2026-03-02 0.5 days"
    assert found["Document, source"].endswith("aws_price_list")


def test_aws_itself_is_the_reference(page: str) -> None:
    found = {cells["group"].split(" (")[0]: cells for cells in rows(page) if cells["Provider, tier"] == "AWS"}
    assert {group: (cells[PRICE], cells["Against AWS"]) for group, cells in found.items()} == {
        "H100 SXM, single chip": ("12.00", "reference"), "H100 SXM, node of 8+": ("10.00", "reference")
    }  # fmt: skip


def test_the_title_states_the_finding_and_takes_no_floor_and_nothing_sold_out(page: str) -> None:
    """Gamma's 2 is a floor, Nobody has none left at 1, Delta's 2 is of another form."""
    caption = text_of(re.search("<caption.*?</caption>", table(page, "on-demand"), re.DOTALL)[0])
    assert caption.startswith(
        "On-demand by provider: H100 SXM, single chip at 2.50 USD per chip-hour, Zeta, 79.2 % below AWS List prices."
    )


def test_a_floor_is_marked_and_has_no_median(page: str) -> None:
    found = row(page, "Gamma")
    assert (found[PRICE], found[MEDIAN][0]) == ("from 2.00", wording.UNKNOWN)
    assert price_tables.NO_MEDIAN["floor"] in text_of(table(page, "on-demand"))


def test_a_marketplace_has_its_percentile_and_its_machines(page: str) -> None:
    found = row(page, "Zeta")
    assert (found[PRICE], found[MEDIAN], found["Offers, stock"]) == ("2.50 25th percentile", "3.00", "2 12 machines")


def test_what_is_sold_out_says_so_and_has_no_rank(prices: pl.DataFrame) -> None:
    sold_out = prices.filter(pl.col("service_provider_name") == "Nobody").with_columns(row_rank=1)
    made = text_of(to_html(price_tables.by_provider(sold_out, "on_demand")))
    assert sold_out["price_rank"].to_list() == [None]
    assert "1 0 chips, sold out" in made
    assert "Nobody machine of a-host" in made


def test_only_a_median_is_no_cheapest_price(page: str) -> None:
    found = row(page, "Eta")
    assert (found[PRICE][0], found["Against AWS"][0], found[MEDIAN]) == (wording.UNKNOWN, wording.UNKNOWN, "3.50")
    assert price_tables.ONLY_MEDIAN in text_of(table(page, "on-demand"))


def test_another_currency_is_told_with_the_date_of_its_rate(page: str) -> None:
    """44 euros for 8 chips are 5.50 each, at 1.25 dollars 6.875."""
    assert row(page, "Beta")[PRICE] == "6.88 5.50 EUR, rate of 2026-02-27"


def test_another_form_and_an_unknown_number_have_groups_of_their_own_and_no_distance(page: str) -> None:
    assert row(page, "Delta")["group"] == "H100 PCIe, node of 8+ (1)"
    assert row(page, "Theta")["group"] == "H100 SXM, number not stated (1)"
    assert {row(page, name)["Against AWS"][0] for name in ("Delta", "Theta")} == {wording.UNKNOWN}
    foot = text_of(table(page, "on-demand"))
    assert price_tables.NO_AWS in foot
    assert price_tables.NO_CAPACITY in foot


def test_an_old_price_is_greyed_with_its_age(prices: pl.DataFrame) -> None:
    old = prices.filter(pl.col("service_provider_name") == "Lambda").with_columns(row_rank=1)
    old = old.with_columns(distance_to_aws=pl.lit(None, pl.Float64))
    made = to_html(price_tables.by_provider(old, "on_demand"))
    assert '<span class="past">6.00</span>' in made
    assert '<span class="past">2026-01-21 <small>stale, 40 days</small></span>' in made
    assert price_tables.OTHER_DATE in text_of(made)


def test_options_have_tables_of_their_own_and_commitments_their_length(page: str) -> None:
    assert row(page, "Epsilon", "spot")["Against AWS"] == "+12.5 % AWS 4.00"
    assert {cells["Provider, tier"]: cells["Commitment"][:6] for cells in rows(page, "reserved")} == {
        "Iota SXM": "1 year", "Iota no length told, SXM": f"{wording.UNKNOWN} 2"
    }  # fmt: skip
    assert "Epsilon" not in table(page, "on-demand")
    assert "Commitment" not in table(page, "spot")


def test_what_is_left_out_is_counted(page: str, prices: pl.DataFrame) -> None:
    shown = rows(page)
    total = prices.filter(pl.col("purchase_option") == "on_demand").height
    assert f"{total - len(shown)} more rows left out" in text_of(table(page, "on-demand"))
    assert "H100 SXM, node of 8+ (4 of 10)" in {cells["group"] for cells in shown}


def test_every_number_of_the_tables_is_the_marts(page: str, market: Path) -> None:
    with duckdb.connect(str(market), read_only=True) as con:
        known = {
            wording.amount(price, 2)
            for pair in con.execute("select cheapest_price_usd, median_price_usd from int.provider_price").fetchall()
            for price in pair
        }
    shown = [
        cells[head]
        for option in ("on-demand", "spot", "reserved")
        for cells in rows(page, option)
        for head in (PRICE, MEDIAN)
    ]
    amounts = {re.search(r"[\d.,]+|\N{EN DASH}", cell)[0] for cell in shown}
    assert amounts <= known
    assert len(amounts) > 8


def test_text_from_outside_runs_nowhere(page: str) -> None:
    assert "<img" not in page
    node, single = [cells for cells in rows(page) if cells["Provider, tier"].startswith("<img")]
    assert (node["Machine, region"], single["Machine, region"]) == (f"8x {HOSTILE}", HOSTILE)
    assert node["Provider, tier"].count(HOSTILE) == 4


def test_what_is_not_known_is_counted_and_listed(page: str) -> None:
    start = page.index('<section aria-labelledby="gaps">')
    text = text_of(page[start : page.index("</section>", start)])
    assert "1 offer is of a chip that we do not know, so without a price per chip-hour." in text
    assert "NVIDIA Z9000 Ti Kappa 1" in text
    assert "1 offer has no price in US dollars." in text
    assert "Kappa GBP 1" in text
    assert "1 offer is a part of a chip of unknown size." in text
    assert "Kappa H200 20GB 1" in text
    assert "1 offer states no length of the commitment." in text
    assert "2 offers do not say how many chips have to be bought." in text
    assert "5 offers that cannot be compared" in text
    assert "No price in this file is under Savings Plan and Capacity Block." in text


def test_what_is_beyond_the_limit_of_age_stands_apart_with_its_date(market: Path, tmp_path: Path) -> None:
    """As of half a year later every price is old: each is in the folded table with its day, and none in another."""
    file = tmp_path / "prices.duckdb"
    shutil.copy(market, file)
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        assert frame(con, "provider_price_old").height == 0
        con.execute("create or replace table int.provider_price as from int.provider_price")
        con.execute("update int.provider_price set is_ranked = false, price_rank = null, age_days = age_days + 180")
        con.execute("update meta.build set built_at = built_at + interval 180 days")
    found = daily_page.read(file)
    old = found["provider_price_old"]
    assert old.height > 5
    summary, table = price_tables.old(old)
    text = text_of(to_html(table))
    words = f"{old.height} prices older than 90 days (of marketplaces 30), not ranked: last confirmed 2026"
    assert summary.startswith(words)
    for each in old.iter_rows(named=True):
        assert f"{each['cheapest_price_usd']:.2f} {each['last_observed_at']:%Y-%m-%d}" in text, each
    (made,) = daily_page.render(found, ["latest.html"])
    assert 'id="providers-old"' in made
    assert set(found["provider_price"]["service_provider_name"]) == {"AWS"}


def test_without_old_prices_there_is_no_word_of_them(page: str) -> None:
    assert "not ranked:" not in text_of(page)
    assert "providers-old" not in page
