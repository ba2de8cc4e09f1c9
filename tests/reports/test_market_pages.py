"""The pages of chips and providers: each number is the mart's, marked for what it is; an unchanged page stays."""

import html
import re
import shutil
from pathlib import Path

import duckdb
import market_file
import paging
import pytest
import weekly_file
from looks import day
from market_file import HOSTILE

from reports import wording
from reports.pages import daily_page, market_pages
from reports.queries import ask
from reports.tables.table import Table

Cells = dict[str, str]
TIER = "a tier with a long name that has to wrap somewhere"


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return market_file.market(tmp_path_factory)


@pytest.fixture(scope="module")
def folder(market: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    paging.of(market, market_pages.write, folder, data_sha256="a" * 64)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "chips/h100.html").read_text(encoding="utf-8")


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def rows(page: str, id: str = "standing") -> list[Cells]:
    """Return the cells of a table as texts, by their heads, each with the group it stands in."""
    found = re.search(rf'<div class="frame" id="{id}".*?</table>', page, re.DOTALL)
    assert found, id
    head = found[0][: found[0].index("<tbody")]
    heads = re.findall(r'<th[^>]*scope="col"[^>]*>(.*?)</th>', head, re.DOTALL)
    heads = [text_of(each) for each in heads if "gt_column_spanner" not in each]
    made, group = [], ""
    for line in re.findall(r"<tr[^>]*>(.*?)</tr>", found[0][found[0].index("<tbody") :], re.DOTALL):
        if "gt_group_heading" in line:
            group = text_of(line)
        elif "gt_stub" in line:
            name, *cells = [text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL)]
            made.append({"group": group, "name": name, **dict(zip(heads[-len(cells) :], cells, strict=True))})
    return made


def row(page: str, name: str, id: str = "standing", group: str = "SXM") -> Cells:
    (found,) = [cells for cells in rows(page, id) if cells["name"] == name and cells["group"] in (group, "")]
    return found


def test_a_price_stands_with_its_distance_from_aws_its_day_and_its_document(page: str) -> None:
    """40 for 8 chips is 5 each, half of AWS's 10 for a node."""
    assert row(page, "Alpha")["on demand"] == f"5.00 {TIER}, {wording.MINUS}50.0 % to AWS, 2 Mar"
    (sha,) = set(re.findall(r'<a href="#d-(\w{12})" data-offer-id="\d+">5\.00</a>', page))
    assert re.search(rf'<code id="d-{sha}">{sha}[^<]*</code>', page.replace("<wbr>", ""))
    assert row(page, "AWS")["on demand"] == "10.00 2 Mar"


def test_what_is_not_a_plain_price_says_so(page: str) -> None:
    """Gamma's 2 is a floor, Zeta's the 25th percentile, Eta's a median, Beta's in euros at 1.25 dollars."""
    assert row(page, "Gamma", "old")["on demand"].startswith("from 2.00")
    assert row(page, "Zeta")["on demand"].endswith("25th percentile, 2 Mar")
    assert row(page, "Eta")["on demand"].startswith("3.50 median")
    assert row(page, "Beta")["on demand"].startswith("6.88 5.50 EUR, rate of 2026-02-27")


def test_forms_stand_apart_and_options_have_columns_of_their_own(page: str) -> None:
    assert row(page, "Delta", group="PCIe")["on demand"].startswith("2.00")
    epsilon = row(page, "Epsilon")
    assert (epsilon["on demand"], epsilon["spot"][:4]) == ("", "4.50")
    assert (row(page, "Iota")["on demand"], row(page, "Iota")["1 year"][:4]) == ("", "6.25")


def test_a_price_beyond_the_limit_of_age_is_grey_and_apart(page: str) -> None:
    """Lambda's 6 of January, 40 days old, is young enough; half a year later none is."""
    assert row(page, "Lambda")["on demand"] == f"6.00 {wording.MINUS}40.0 % to AWS, 21 Jan"
    assert "Lambda" not in {cells["name"] for cells in rows(page, "old")}


def test_as_of_half_a_year_later_all_is_old(market: Path, tmp_path: Path) -> None:
    file = tmp_path / "prices.duckdb"
    shutil.copy(market, file)
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("create or replace table int.provider_price as from int.provider_price")
        con.execute("update int.provider_price set is_ranked = false, price_rank = null, age_days = age_days + 180")
        con.execute("update meta.build set built_at = built_at + interval 180 days")
    paging.of(file, market_pages.write, tmp_path, data_sha256="b")
    page = (tmp_path / "chips/h100.html").read_text(encoding="utf-8")
    assert "No price can be ranked." in page
    assert "the lowest" not in page  # of the chart: a line that ended is none of today
    assert 'id="standing"' not in page
    assert re.search(r'<span class="no"><a href="#d-\w+" data-offer-id="\d+">5\.00</a></span>', page)


def test_the_cheapest_elsewhere_says_of_which_form_it_is(offline_run: Path) -> None:
    """AWS sells the SXM form, so it is the cheapest of that one: a PCIe card costs less, and stands below."""
    page = (offline_run / "reports/chips/h100.html").read_text(encoding="utf-8")
    assert "H100 SXM: 6.88 on demand at AWS and 3.20 at Hyperstack, the cheapest seen elsewhere" in text_of(page)
    assert row(page, "Hyperstack", group="PCIe")["on demand"].startswith("2.50")
    front = (offline_run / "reports/index.html").read_text(encoding="utf-8")
    assert re.search(r">3\.20</a><small>Hyperstack, SXM</small>", front)
    page = (offline_run / "reports/chips/mi300x.html").read_text(encoding="utf-8")  # of which one form is sold
    assert "MI300X: 2.99 at Hot Aisle" in text_of(page)


def test_a_cost_that_is_not_known_says_why(offline_run: Path) -> None:
    """As the page of costs does; a way to buy that has no cost of any model has no column."""
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (offline_run / "reports/chips").glob("*.html")}
    tables = {name: rows(page, "costs") for name, page in pages.items() if 'id="costs"' in page}
    assert len(tables) == 9
    assert all(cell for table in tables.values() for row in table for head, cell in row.items() if head != "group")
    assert [row["Second elsewhere"] for row in tables["gb200"] if row["name"].startswith("deepseek-r1")] == ["\u2013 1"]
    assert "1 no offer is of the form and size that was measured" in text_of(pages["gb200"])
    assert "AWS, on demand" not in tables["mi300x"][0]


def test_a_chip_that_aws_does_not_sell_has_its_lines(offline_run: Path) -> None:
    """Nothing is "elsewhere" then; and its lines do not end where the page's date is, while the last price counts."""
    page = (offline_run / "reports/chips/tpu-v5e.html").read_text(encoding="utf-8")
    assert "elsewhere" not in text_of(page)
    assert 'class="line median"' in page
    assert not re.search(r'class="line median" d="M(\d+)\.0 [\d.]+H\1"', page)
    page = (offline_run / "reports/chips/mi300x.html").read_text(encoding="utf-8")
    assert f"Azure {wording.MINUS}45{wording.NBSP}%, Jun 2026" in page  # of the index: where it was last seen
    assert "fell 45.3 % since 13 Dec 2024, last seen 14 Aug 2026" in text_of(page)


def test_a_reserved_price_of_an_unknown_term_has_its_column(offline_run: Path) -> None:
    page = (offline_run / "reports/chips/h100.html").read_text(encoding="utf-8")
    assert row(page, "Hyperstack")["term not stated"] == "from 2.72 Reservation, 4 Oct"


def test_a_from_price_of_days_ago_is_not_called_old(offline_run: Path) -> None:
    page = text_of((offline_run / "reports/chips/rtx-a5000.html").read_text(encoding="utf-8"))
    assert "RTX-A5000: no price can be ranked; the last was from 0.44 USD at Massed Compute, 22 Aug 2026" in page
    assert "Chip, newest price 2026-08-22 06:21 UTC" in page  # the file is as of later, and so is the rule of age
    assert 'Prices of 1 provider that are not ranked: too old, "from" prices, confidential computing' in page
    page = text_of((offline_run / "reports/providers/salad.html").read_text(encoding="utf-8"))
    assert 'salad: 0 chips with a price that can be ranked, 5 with none but old or "from" prices' in page


def test_every_way_to_commit_is_on_the_page() -> None:
    """AWS sells many chips in twelve ways and more."""
    key = {"form_factor": "SXM", "service_provider_name": "AWS", "purchase_option": "savings_plan", "price_rank": 1}
    terms = {"commitment_term_hours": 8760, "purchase_payment_model": "No Upfront"}
    plans = [key | terms | {"accelerator_name": f"N{n}", "price_per_accelerator_hour_usd": n} for n in range(1, 100)]
    table = market_pages._plans(plans, len(plans), is_chip=False)
    assert isinstance(table, Table)
    assert (table.title, len(table.rows)) == ("99 ways to commit", 99)


def test_of_alike_commitments_the_cheapest_and_its_document_are_on_the_page(offline_run: Path, tmp_path: Path) -> None:
    """As of AWS's kinds of plan, machines and regions: the others' documents, thousands in years, are on no page."""
    file = tmp_path / "prices.duckdb"
    shutil.copy(offline_run / "prices.duckdb", file)
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute("create table int.copy as from int.commitment_option; drop view int.commitment_option")
        con.execute("alter table int.copy rename to commitment_option")
        shown = "select document_sha256 from int.provider_price union select document_sha256 from int.commitment_option"
        con.execute(
            "insert into int.commitment_option select * replace (price_per_accelerator_hour_usd * 2 as "
            "price_per_accelerator_hour_usd, price_rank + 1000 as price_rank, (select min(document_sha256) from "
            f"core.document where document_sha256 not in ({shown})) as document_sha256) from int.commitment_option"
        )
    paging.of(file, market_pages.write, tmp_path, data_sha256="b")
    for name in ("chips/h100", "providers/aws"):
        page, before = (
            (root / f"{name}.html").read_text(encoding="utf-8") for root in (tmp_path, offline_run / "reports")
        )
        linked, listed = (set(re.findall(rf'{what}d-(\w{{12}})"', page)) for what in ('href="#', 'id="'))
        assert listed == linked
        assert rows(page, "commitments") == rows(before, "commitments")


def test_every_price_is_the_marts(folder: Path, market: Path) -> None:
    with duckdb.connect(str(market), read_only=True) as con:
        known = {
            wording.amount(price, 2)
            for pair in con.execute("select cheapest_price_usd, median_price_usd from int.provider_price").fetchall()
            for price in pair
        }
        chips = con.execute("select count(distinct accelerator_name) from int.provider_price").fetchall()[0][0]
    pages = [*folder.glob("*/*.html")]
    shown = {
        found
        for page in pages
        for found in re.findall(r'data-offer-id="\d+">(?:from )?([\d.,]+)</a>', page.read_text(encoding="utf-8"))
    }
    assert len(shown) > 12
    assert shown <= known
    assert len([page for page in pages if page.parent.name == "chips"]) == chips


def test_the_cheapest_of_a_form_option_and_term_is_marked(folder: Path, market: Path) -> None:
    """As the mart ranks it: no floor, nothing too old, of equal prices one; no term that is not stated."""
    with duckdb.connect(str(market), read_only=True) as con:
        first = (
            "select accelerator_name, offer_id from int.provider_price "
            "where price_rank = 1 and commitment_class is not null"
        )
        asked = {(chip, str(offer)) for chip, offer in con.execute(first).fetchall()}
    marked = {
        (re.findall(r"<title>(.*?) ·", text)[0], offer)
        for path in (folder / "chips").glob("*.html")
        for text in [path.read_text(encoding="utf-8")]
        for offer in re.findall(r'<span class="least"><a [^>]*data-offer-id="(\d+)"', text)
    }
    assert len(asked) > 3
    assert {(html.unescape(chip), offer) for chip, offer in marked} == asked


def test_a_page_of_which_nothing_changed_stays(market: Path, folder: Path, tmp_path: Path) -> None:
    """With the hash of the file that it was written from; where a price differs it is written again."""
    shutil.copytree(folder, tmp_path / "site")
    page = tmp_path / "site/chips/h100.html"
    paging.of(market, market_pages.write, tmp_path / "site", data_sha256="b" * 64)
    assert f'<code class="hash">{"a" * 64}</code>' in page.read_text(encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8").replace(">5.00<", ">5.01<"), encoding="utf-8")
    paging.of(market, market_pages.write, tmp_path / "site", data_sha256="b" * 64)
    assert f'<code class="hash">{"b" * 64}</code>' in page.read_text(encoding="utf-8")


def test_a_page_says_how_to_cite_it(page: str) -> None:
    """Its address, the date of its newest price, the hash of the file."""
    cite = text_of(page[page.index('<p class="cite">') : page.index("</p>", page.index('<p class="cite">'))])
    assert cite == f"Cite: chipledger, H100, chips/h100.html , data of 2 Mar 2026, file SHA-256 {'a' * 64}"


def test_names_have_addresses_of_their_own() -> None:
    """Words from outside make no path; of two names alike one has a hash; the same names give the same addresses."""
    found = market_pages.addresses(["RTX-4090", "RTX 4090", "../x", HOSTILE, "\N{SNOWMAN}"], "chips")
    assert found["RTX 4090"] == "chips/rtx-4090.html"
    assert re.fullmatch(r"chips/rtx-4090-[0-9a-f]{8}\.html", found["RTX-4090"])
    assert found["../x"] == "chips/x.html"
    assert len(set(found.values())) == 5
    assert all(re.fullmatch(r"chips/[a-z0-9-]+\.html", path) for path in found.values())


def test_text_from_outside_runs_nowhere(folder: Path) -> None:
    for page in folder.glob("*/*.html"):
        assert "<img" not in page.read_text(encoding="utf-8"), page


def test_what_is_not_known_is_counted_and_listed(market: Path) -> None:
    (page,) = daily_page.render(paging.of(market, daily_page.read), ["latest.html"])
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


def test_a_move_that_two_collectors_saw_is_one_line(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Under two names of one chip, in windows that overlap; what moved anew later is another line."""
    with duckdb.connect(str(weekly_file.weeks(tmp_path_factory)), read_only=True) as con:
        words = {"since": day(0), "kinds": market_pages.SHOWN_CHANGES, "n": market_pages.MAX_CHANGES}
        found = [row for row in ask(con, "market_change", **words) if row["service_provider_name"] == "RunPod"]

    assert [(row["accelerator_name"], row["source"], row["n_of_provider"]) for row in found] == [
        ("H100", "aws_spot_feed", 1)
    ]
