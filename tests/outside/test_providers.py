"""The page of providers from the outside: each price again from the log, with plain sums, and what may not be there."""

import html
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from flows.cli import main
from reports.pages import front_page
from reports.queries import opened
from transform.models import SQL

LISTED = """
select o.service_provider_name, u.accelerator_name, u.form_factor, o.region_id,
    p.unit_price::DOUBLE / u.accelerator_count as price, p.last_observed_at, o.offer_id, u.accelerator_count, o.tier
from core.sku_price as p join core.offer as o using (offer_id) join core.offer_unit as u using (offer_id)
where p.valid_to is null and o.purchase_option = 'on_demand' and o.statistic = 'price'
    and coalesce(o.pricing_unit, 'Hours') = 'Hours' and o.pricing_currency = 'USD'
    and o.conditions is null and o.restriction is null
qualify row_number() over (partition by o.offer_id order by p.last_observed_at desc) = 1
"""
CELL = re.compile(
    r'<td[^>]*>(?P<old><span class="no"[^>]*>)?<a [^>]*data-offer-id="(?P<offer>\d+)"[^>]*>(?P<price>[\d.]+)</a>'
    r"(?:</span>)?<small>(?:(?P<tier>[^<]*), )?(?P<day>[^<,]*)</small>(?P<mark><sup>)?"
    r'|<td[^>]*>(?P<empty>\N{EN DASH}|<span class="no">not (?:sold|collected yet)</span>)</td>'
)
DAYS_RANKED = timedelta(days=90)


@pytest.fixture(scope="module")
def page(offline_run: Path) -> str:
    return (offline_run / "reports" / "providers.html").read_text(encoding="utf-8")


def cells(page: str) -> dict[tuple[str, str], re.Match[str]]:
    """Return the filled cells, by provider and chip."""
    table = page.partition('id="providers"')[2]
    heads = [html.unescape(re.sub("<[^>]*>", "", head)) for head in re.findall(r"<th[^>]*>(.*?)</th>",
             table.partition("</thead>")[0], re.DOTALL)]  # fmt: skip
    assert {head.rpartition(" ")[2] for head in heads if head.startswith(("H100", "A100"))} == {"SXM"}  # forms differ
    heads = [head.partition(" ")[0] for head in heads]
    found = {}
    for row in re.findall(r"<tr><th scope=\"row\".*?</tr>", table, re.DOTALL):
        (name,) = re.findall(r"<b>(.*?)</b>", row)
        matches = list(CELL.finditer(row))
        assert len(matches) == len(heads) - 1, row
        found |= {
            (html.unescape(re.sub("<[^>]*>", "", name)), chip): each
            for chip, each in zip(heads[1:], matches, strict=True)
            if each["empty"] is None
        }
    return found


def day_of(text: str, built: date) -> date:
    """Return the day that a text without a year, or with one, means."""
    words = text.replace("\N{NO-BREAK SPACE}", " ")
    return datetime.strptime(words if re.search(r"\d{4}$", words) else f"{words} {built.year}", "%d %b %Y").date()  # noqa: DTZ007


def test_four_clouds_and_others_stand_side_by_side(page: str) -> None:
    """Each of the chips at several providers, and each cloud that the archive has of a chip."""
    found = cells(page)
    sellers = defaultdict(set)
    for name, chip in found:
        sellers[chip].add(name)

    assert {"AWS", "Azure", "Google Cloud", "Oracle Cloud", "Hyperstack", "Verda"} <= sellers["H100"]
    assert {"AWS", "Azure", "Oracle Cloud", "Nebius"} <= sellers["H200"]
    assert {"AWS", "Oracle Cloud", "Lambda"} <= sellers["B200"]
    assert {"Azure", "Oracle Cloud", "Hot Aisle"} <= sellers["MI300X"]


def test_each_price_is_the_lowest_of_its_provider(page: str, offline_run: Path) -> None:
    """Of the prices young enough, else of the last; of the form of AWS's machine, or one not stated, which says so."""
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        ((built,),) = con.execute("select built_at from meta.build").fetchall()
        listed = con.execute(LISTED).fetchall()
    found = cells(page)
    assert len(found) > 30
    forms = {
        one[1]: one[2] for one in listed if ("AWS", one[1]) in found and str(one[6]) == found["AWS", one[1]]["offer"]
    }
    for (name, chip), cell in found.items():
        offered = {one[6]: one for one in listed if one[0] == name and one[1] == chip}
        own = offered[int(cell["offer"])]
        assert f"{own[4] + 1e-9:.2f}" == cell["price"], (name, chip)
        assert (own[8] or "") == (cell["tier"] or "") != "confidential computing", (name, chip)
        assert day_of(cell["day"], built) == own[5].date(), (name, chip)
        assert (built - own[5] > DAYS_RANKED) == (cell["old"] is not None), (name, chip)
        alike = [
            one[4]
            for one in offered.values()
            if one[2] == own[2]
            and (built - one[5] <= DAYS_RANKED) == (not cell["old"])
            and one[8] != "confidential computing"  # which costs extra
        ]
        if name != "AWS":
            assert cell["old"] or min(alike) == own[4], (name, chip)
        is_marked = forms.get(chip) is not None and own[2] is None and chip not in ("B200", "B300")  # of one form
        assert is_marked == (cell["mark"] is not None), (name, chip)


def test_of_prices_too_old_it_is_the_last(offline_run: Path) -> None:
    """The cheapest of a provider's old ones is what it asked once, and asks no more."""
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        con.execute("create temp table old as select * replace (false as is_ranked) from int.provider_price")
        query = (SQL / "front_provider.sql").read_text().replace("int.provider_price", "old")
        newer = con.execute(
            f"select f.service_provider_name, f.accelerator_name from ({query}) as f "
            "join old as shown on f.offer_id = shown.offer_id "
            "join old as p on f.accelerator_name = p.accelerator_name "
            "and f.service_provider_name = p.service_provider_name and p.purchase_option = 'on_demand' "
            "and shown.form_factor is not distinct from p.form_factor and not p.is_floor "
            "and p.cheapest_price_usd is not null and p.last_observed_at::date > f.last_observed_at::date"
        ).fetchall()
    assert newer == []


@pytest.fixture
def of_few(tmp_path: Path) -> Callable[[str], Path]:
    """Return the pages of a file of few prices, each a provider, a chip and a price."""

    def written(*rows: str) -> Path:
        lines = ("observed_at_utc,provider,gpu,gpu_count,region,pricing,usd_per_hour,source", *rows)
        (tmp_path / "few.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for words in (("import", str(tmp_path / "few.csv")), ("report",)):
            assert CliRunner().invoke(main, ["--data-dir", str(tmp_path), *words]).exit_code == 0
        return tmp_path / "reports"

    return written


def test_the_first_price_of_an_installation_is_on_every_page(of_few: Callable[..., Path]) -> None:
    """One provider is no market, and its chip has a column all the same; of a moment there is no chart."""
    name = " ".join(["a name without an end"] * 9)
    at = f"{datetime.now(UTC) - timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}"
    reports = of_few(f"{at},{name},H100 SXM,8,x,on_demand,24.00,one")
    page, front, chip = ((reports / f"{each}.html").read_text() for each in ("providers", "index", "chips/h100"))
    assert "On demand at AWS and 1 other" in page
    assert {key: cell["price"] for key, cell in cells(page).items()} == {(name, "H100"): "3.00"}
    assert 'class="lines' not in front + chip
    assert "No price is known at two times yet." in chip
    for text in (front, chip):
        headline = re.search(r"<h1>(.*?)</h1>", text)
        assert headline
        assert len(headline[1]) < 160


def test_aws_alone_has_a_page_of_providers(offline_run: Path) -> None:
    with opened(offline_run / "prices.duckdb") as published:
        front = replace(front_page.read(published), sellers={})
    page = str(front_page.providers(front, {}).__html__())
    assert "On demand at AWS and 0 others" in page
    assert page.count("data-offer-id") == 6
    assert ">not collected yet<" in page
