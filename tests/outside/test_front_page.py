"""The front page, from the outside: every cell of its table is computed again from the published file, in Python.

Nothing here asks a table that the page is made of: prices come from the log's own view (amounts, terms, chips), picks
and ages from plain loops over it.
"""

import html
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pytest
from drift_in_python import Chains, drift, known_prices
from published import records

from transform.models import SQL
from warehouse.schema.vocabulary import MARKETPLACES

CHIPS = ("H100", "H200", "B200", "B300", "MI300X", "A100-80GB", "L40S", "Trainium2")
COLUMNS = (
    "chip", "on_demand", "1y", "3y", "spot", "elsewhere", "change", "token_on_demand", "token_1y", "token_spot", "age",
)  # fmt: skip
NOT_SOLD = {"MI300X"}
"""Of the chips those that AWS has no machine with."""
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

Offer = Mapping[str, Any]


@pytest.fixture(scope="module")
def page(file: Path) -> str:
    return (file.parent / "reports" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rows(page: str) -> dict[str, dict[str, str]]:
    """Return the cells of the table as HTML, by chip and column."""
    body = re.search(r'id="chips".*?<tbody[^>]*>(.*?)</tbody>', page, re.DOTALL)
    assert body
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        assert len(cells) == len(COLUMNS)
        found[text(cells[0].split("<small")[0])] = dict(zip(COLUMNS, cells, strict=True))
    return found


def text(cell: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", cell))).split())


@pytest.fixture(scope="module")
def built_at(file: Path) -> datetime:
    return records(file, "select built_at from meta.build")[0]["built_at"]


@pytest.fixture(scope="module")
def offers(file: Path, built_at: datetime) -> list[Offer]:
    """Return every price that stands, with what it comes to per chip-hour, and whether it may be ranked."""
    found = records(
        file,
        "select o.*, u.accelerator_name as chip, u.accelerator_count::double as chips, u.form_factor as form, "
        "u.hours_per_pricing_unit::double as hours, u.capacity_class, p.unit_price::double as unit, "
        "p.upfront_price::double as upfront, "
        "p.last_observed_at as seen from int.price_history as p join core.offer as o using (offer_id) "
        "join core.offer_unit as u using (offer_id) where p.valid_to is null and p.unit_price is not null",
    )
    markets = {name for each in found if (name := each["service_provider_name"]).lower() in MARKETPLACES}
    made = []
    for each in found:
        if not each["chip"] or not each["chips"] or each["pricing_currency"] != "USD":
            continue
        spread = each["upfront"] / each["commitment_term_hours"] if each["upfront"] else 0.0
        price = (each["unit"] / each["hours"] + spread) / each["chips"]
        most = 30 if each["service_provider_name"] in markets else 90
        good = each["unit_price_type"] == "List" and each["restriction"] is None and each["statistic"] != "floor"
        young = built_at - each["seen"] <= timedelta(days=most)
        made.append({**each, "price": price, "is_ranked": good and young and price > 0})
    return made


def is_of_us(offer: Offer) -> bool:
    region = offer["region_id"] or ""
    return region.startswith("us-") and not re.match("us-(gov|iso)", region)


def aws(offers: Sequence[Offer], chip: str) -> list[Offer]:
    return [
        each for each in offers
        if each["service_provider_name"] == "AWS" and each["chip"] == chip and each["is_ranked"] and is_of_us(each)
        and each["statistic"] == "price" and each["instance_type"] and not each["instance_type"].startswith("ml.")
    ]  # fmt: skip


def machine(offers: Sequence[Offer], chip: str) -> Offer | None:
    """Return the offer whose machine and region AWS's cells are of."""
    known = [each for each in aws(offers, chip) if each["conditions"] is None]
    return min(
        known,
        default=None,
        key=lambda each: (
            each["purchase_option"] != "on_demand", each["region_id"] != "us-east-1", each["price"], -each["chips"],
            each["instance_type"], each["offer_id"],
        ),
    )  # fmt: skip


def of_machine(offers: Sequence[Offer], chip: str, option: str, hours: int | None = None) -> Offer | None:
    own = machine(offers, chip)
    if own is None:
        return None
    options = {"on_demand"} if option == "on_demand" else {"reserved", "savings_plan"}
    known = [
        each for each in aws(offers, chip)
        if each["purchase_option"] in options and each["commitment_term_hours"] == hours and each["conditions"] is None
        and each["instance_type"] == own["instance_type"] and each["region_id"] == own["region_id"]
    ]  # fmt: skip
    return min(known, default=None, key=lambda each: (each["price"], each["offer_id"]))


def spots(offers: Sequence[Offer], chip: str) -> list[Offer]:
    own = machine(offers, chip)
    return [
        each for each in aws(offers, chip)
        if each["purchase_option"] == "spot" and own and each["instance_type"] == own["instance_type"]
    ]  # fmt: skip


def elsewhere(offers: Sequence[Offer], chip: str) -> Offer | None:
    own = machine(offers, chip)
    form = own["form"] if own else None
    known = [
        each for each in offers
        if each["service_provider_name"] != "AWS" and each["chip"] == chip and each["is_ranked"]
        and each["purchase_option"] == "on_demand" and each["statistic"] != "median"
        and (form is None or each["form"] == form or (each["form"] is None and chip in ("B200", "B300")))
    ]  # fmt: skip
    return min(known, default=None, key=lambda each: (each["price"], each["service_provider_name"], each["offer_id"]))


def links(cell: str) -> list[tuple[int, str]]:
    """Return offer and text of each price of a cell; each leads to its own evidence."""
    found = re.findall(r'<a href="evidence.html#offer-(\d+)" data-offer-id="(\d+)"[^>]*>([^<]*)</a>', cell)
    assert all(there == offer for there, offer, _ in found)
    return [(int(offer), shown) for _, offer, shown in found]


def shown(offer: Offer | None) -> list[tuple[int, str]]:
    return [] if offer is None else [(offer["offer_id"], f"{offer['price']:,.2f}")]


def test_the_chips_of_the_setting_in_their_order(rows: Mapping[str, Mapping[str, str]]) -> None:
    assert tuple(rows) == CHIPS


@pytest.mark.parametrize("chip", CHIPS)
def test_each_price_is_the_lowest_of_its_kind(
    rows: Mapping[str, Mapping[str, str]], offers: Sequence[Offer], chip: str
) -> None:
    """On demand, one year, three years, elsewhere: the offer, and its price to the cent; no option for another."""
    cells = rows[chip]
    assert links(cells["on_demand"].split("<small>Block")[0]) == shown(of_machine(offers, chip, "on_demand"))
    assert links(cells["1y"]) == shown(of_machine(offers, chip, "commitment", 8760))
    assert links(cells["3y"]) == shown(of_machine(offers, chip, "commitment", 26280))
    assert links(cells["elsewhere"]) == shown(elsewhere(offers, chip))
    if other := elsewhere(offers, chip):
        assert other["service_provider_name"] in text(cells["elsewhere"])
    own = machine(offers, chip)
    if own:
        assert own["instance_type"] in text(cells["chip"])


@pytest.mark.parametrize("chip", CHIPS)
def test_the_terms_of_a_commitment(rows: Mapping[str, Mapping[str, str]], offers: Sequence[Offer], chip: str) -> None:
    for name, hours in (("1y", 8760), ("3y", 26280)):
        offer = of_machine(offers, chip, "commitment", hours)
        if offer is None:
            continue
        kind = {None: "Reserved", "Compute": "Compute plan", "EC2Instance": "EC2 plan"}[
            offer["commitment_discount_type"]
        ]
        paid = {"All Upfront": "upfront", "Partial Upfront": "half upfront", "No Upfront": "no upfront"}
        assert text(rows[chip][name]).endswith(f" {kind}, {paid[offer['purchase_payment_model']]}")


@pytest.mark.parametrize("chip", CHIPS)
def test_spot_from_the_lowest_zone_to_the_highest(
    rows: Mapping[str, Mapping[str, str]], file: Path, offers: Sequence[Offer], chip: str
) -> None:
    known = spots(offers, chip)
    cell = rows[chip]["spot"]
    if not known:
        assert links(cell) == []
        return
    low = min(known, key=lambda each: (each["price"], each["offer_id"]))
    high = max(known, key=lambda each: (each["price"], -each["offer_id"]))
    assert links(cell) == shown(low) + (shown(high) if high is not low else [])
    zones = {each["availability_zone_id"] or each["availability_zone"] for each in known}
    assert None not in zones
    day = min(each["seen"] for each in known)
    n = f"{len(zones)} zone{'s' if len(zones) > 1 else ''}"
    # Without a mean of 7 or 30 days of any of these zones, the words say so.
    seen = "" if has_mean(file, known) else "last seen "
    assert text(cell).endswith(f"{n}, {seen}{day.day} {MONTHS[day.month - 1]}")


def has_mean(file: Path, known: Sequence[Offer]) -> bool:
    return any(
        each[f"mean_price_{days}d"] is not None and each[f"priced_share_{days}d"] >= 0.5
        for each in records(file, "from int.spot_zone_price") for days in (7, 30)
        if each["offer_id"] in {offer["offer_id"] for offer in known}
    )  # fmt: skip


def test_a_cost_from_a_last_sighting_never_looks_like_a_mean(rows: Mapping[str, Mapping[str, str]], file: Path) -> None:
    """Grey with the words, exactly where int.headline_token_cost has no mean."""
    kinds = {
        each["accelerator_name"]: each["price_kind"] for each in records(
            file, "from int.headline_token_cost where option_kind = 'spot' and place = 'AWS' "
            "and usd_per_million_output_tokens is not null")
    }  # fmt: skip
    assert kinds
    for chip, cells in rows.items():
        is_last = kinds.get(chip) == "price"
        assert ("<small>last seen</small>" in cells["token_spot"]) == is_last, chip
        assert cells["token_spot"].startswith('<span class="no"') or not is_last


@pytest.mark.parametrize("chip", CHIPS)
def test_the_change_of_90_days(
    rows: Mapping[str, Mapping[str, str]], file: Path, built_at: datetime, chip: str
) -> None:
    """As plain Python has it; where nothing can be compared the cell says so in words."""
    series = ("chip", None, chip, "on_demand")
    known = Chains(file, [chip]).drift(series, (built_at - timedelta(days=90)).date(), built_at.date())
    if known is None or abs(known) < 1e-9:  # a chain whose prices nobody saw again is no drift of zero
        known = drift(*known_prices(file), built_at, 90).get(series)
    cell = text(rows[chip]["change"])
    if known is None:
        assert cell in ("new", "not comparable", "not known", "unknown")
    else:
        sign = "" if abs(known) < 1e-9 else "+" if known > 0 else "\N{MINUS SIGN}"
        assert cell == f"{sign}{abs(known) * 100:.1f} %"


@dataclass(frozen=True)
class Point:
    """The model and operating point that the page states, and the runs at it that may be ranked."""

    stated: Offer
    runs: Sequence[Offer]

    def rate(self, chip: str, unit: Offer) -> float | str:
        """Return output tokens per second of one paid chip of a unit at the point's speed, or why there is none.

        Of one machine, of several and of disaggregated runs the best.
        """
        topologies = {run["topology"] for run in self.runs}
        found = [self._rate([run for run in self.runs if run["topology"] == each], chip, unit) for each in topologies]
        reasons = [each for each in ("at most", "too slow", "not this size") if each in found]
        return max((each for each in found if not isinstance(each, str)), default=reasons[0] if reasons else "no run")

    def _rate(self, runs: Sequence[Offer], chip: str, unit: Offer) -> float | str:
        """Return the rate by runs of one topology: repeats of a configuration are their middle.

        The best of each speed that no faster run beats make a line; in between it is straight.
        """
        chips, repeats = unit["chips"] * float(unit["minimum_quantity"] or 1), defaultdict(list)
        for run in runs:
            n = float(run["accelerator_count"])
            if run["accelerator_name"] != chip or run["chip_form_factor"] not in (None, unit["form"]):
                continue
            if n > chips and not (is_joined(unit) and run["form_factor"] != "NVL72"):
                continue
            working = n * (chips // n if n <= chips else 1) / (chips if n <= chips else -(-n // chips) * chips)
            configuration = n, run["concurrency"], run["parallelism"], run["software"]
            repeats[configuration].append((run["interactivity"], float(run["output_rate"]) / n * working))
        if not repeats:
            return "not this size"
        best: dict[float, float] = {}
        for each in repeats.values():
            speed, rate = (median(values) for values in zip(*each, strict=True))
            best[speed] = max(rate, best.get(speed, rate))
        line = [speed for speed in sorted(best) if all(best[speed] > best[each] for each in best if each > speed)]
        at = self.stated["interactivity"]
        if at > line[-1]:
            return "too slow"
        if at < min(best):
            return "at most"
        faster = next(each for each in line if each >= at)
        slower = max((each for each in line if each < at), default=faster)
        share = 1.0 if faster == slower else (at - slower) / (faster - slower)
        return best[slower] + share * (best[faster] - best[slower])


@pytest.fixture(scope="module")
def point(file: Path) -> Point:
    (stated,) = records(file, "from int.headline_point")
    runs = records(
        file,
        "select t.*, i.chip_form_factor, i.decoding, i.topology, i.is_ranked from core.throughput as t "
        "join int.throughput as i using (throughput_id) where t.output_rate is not null",
    )
    names = (
        "model_name", "task", "scenario", "benchmark", "precision", "input_length", "output_length", "decoding",
        "interactivity_statistic",
    )  # fmt: skip
    own = [run for run in runs if run["is_ranked"] and all(run[name] == stated[name] for name in names)]
    assert {run["evidence_grade"] for run in own} == {"A", "B"}  # official runs, some of them in a copy
    return Point(stated, own)


def is_joined(unit: Offer) -> bool:
    """Return whether machines of this type work together: sold as a cluster, or joined by a network at AWS."""
    joined = r"(p4d|p4de|p5|p5e|p5en|p6-b200|p6-b300|trn1|trn1n|trn2)[.]"
    name, instance = unit["service_provider_name"], unit["instance_type"]
    if name == "AWS" and unit["chips"] >= 8 and re.match(joined, instance or ""):
        return True
    return unit["capacity_class"] == "cluster"


def token_cost(file: Path, offers: Sequence[Offer], point: Point, chip: str, kind: str) -> tuple[int, float] | str:
    """Return offer and USD per million output tokens of the cheapest way of a kind, or why there is none."""
    hours = {"one_year": range(8760, 2 * 8760)}
    options = {"one_year": {"reserved", "savings_plan"}}.get(kind, {kind})
    of_kind = [
        each for each in offers
        if each["chip"] == chip and (each["service_provider_name"] == "AWS") == (chip not in NOT_SOLD)
        and each["purchase_option"] in options and each["statistic"] == "price" and each["unit_price_type"] == "List"
        and each["restriction"] is None and each["price"] > 0
        and (kind != "one_year" or each["commitment_term_hours"] in hours[kind])
        and not (each["instance_type"] or "").startswith("ml.")
        and not re.match("cn-|us-gov|us-iso|eu-iso|eusc", each["region_id"] or "")
    ]  # fmt: skip
    if not of_kind:
        return "no price"
    if not any(run["accelerator_name"] == chip for run in point.runs):
        return "no run"
    means = {}
    for row in records(file, "from int.spot_zone_price") if kind == "spot" else ():
        for days in (7, 30):
            if row[f"mean_price_{days}d"] is not None and row[f"priced_share_{days}d"] >= 0.5:
                means[row["offer_id"]] = (-days, row[f"mean_price_{days}d"] / float(row["accelerator_count"]))
    found, reasons = [], set()
    for each in of_kind:
        rate = point.rate(chip, each)
        if isinstance(rate, str):
            reasons.add(rate)
        elif not each["is_ranked"]:
            reasons.add("old price")
        else:
            window, price = means.get(each["offer_id"], (0, each["price"]))
            found.append((window, price * 1e6 / (3600 * rate), each["offer_id"]))
    if found:
        _, cost, offer = min(found)
        return offer, cost
    return next(each for each in ("old price", "at most", "too slow", "not this size") if each in reasons)


def test_the_point_is_stated(page: str, point: Point) -> None:
    stated = point.stated
    known = f"{stated['model_name']} {stated['precision']}, {stated['scenario']}, {stated['interactivity']:g} tok/s"
    assert f"Tokens: {known} per user, output, at full load" in text(page)
    assert len(point.runs) > 100


@pytest.mark.parametrize("chip", CHIPS)
def test_the_costs_per_token(
    rows: Mapping[str, Mapping[str, str]], file: Path, offers: Sequence[Offer], point: Point, chip: str
) -> None:
    """Each is price x 10^6 / (3600 x rate): the rate of the runs at the one point that the page states."""
    for name, kind in (("token_on_demand", "on_demand"), ("token_1y", "one_year"), ("token_spot", "spot")):
        known, cell = token_cost(file, offers, point, chip, kind), rows[chip][name]
        if isinstance(known, str):
            assert (links(cell), text(cell)) == ([], known), name
            continue
        assert links(cell) == [(known[0], f"{known[1]:.3g}")], name


def test_a_chip_without_any_price_is_one_line_with_its_reason(page: str, rows: Mapping[str, Mapping[str, str]]) -> None:
    assert "Trainium3" not in rows
    assert re.search(r"Trainium3: unknown, in none of \d+ price lists, last searched 15 Oct 2026\.", text(page))


def test_most_chips_with_a_run_have_every_cost(rows: Mapping[str, Mapping[str, str]]) -> None:
    """What is recomputed is there: three costs of four chips at least."""
    names = ("token_on_demand", "token_1y", "token_spot")
    assert sum(all(links(cells[name]) for name in names) for cells in rows.values()) >= 4


@pytest.mark.parametrize("chip", CHIPS)
def test_the_age_is_that_of_the_oldest_price(
    page: str, rows: Mapping[str, Mapping[str, str]], offers: Sequence[Offer], built_at: datetime, chip: str
) -> None:
    """The head of the column says so, and so does the line under the chip, which stands in its place on a phone."""
    ways = [
        of_machine(offers, chip, "on_demand"), of_machine(offers, chip, "commitment", 8760),
        of_machine(offers, chip, "commitment", 26280), elsewhere(offers, chip), *spots(offers, chip),
    ]  # fmt: skip
    ages = [(built_at - each["seen"]).total_seconds() / 86400 for each in ways if each]
    assert text(rows[chip]["age"]) == (f"{max(ages):.0f}" if ages else "unknown")
    assert "oldest, days" in text(page)
    day = "day" if f"{max(ages):.0f}" == "1" else "days"
    assert text(rows[chip]["chip"]).endswith(f" oldest price {max(ages):.0f} {day}")


def test_no_cell_is_empty_or_a_bare_dash(rows: Mapping[str, Mapping[str, str]]) -> None:
    """What is not known says why in words."""
    cells = [cell for row in rows.values() for cell in row.values()]
    assert len(cells) == len(CHIPS) * len(COLUMNS)
    assert [cell for cell in cells if text(cell) in ("", "\N{EN DASH}", "-", "0", "0.00", "None")] == []


def test_each_offer_has_its_evidence(page: str, file: Path) -> None:
    """Every link leads to a part of the page of evidence that names the document."""
    evidence = (file.parent / "reports" / "evidence.html").read_text(encoding="utf-8")
    shown_offers = set(re.findall(r'data-offer-id="(\d+)"', page))
    assert len(shown_offers) > 30
    documents = {
        str(row["offer_id"]): row["document_sha256"]
        for row in records(file, "select offer_id, document_sha256 from int.price_history where valid_to is null")
    }
    for offer in shown_offers:
        part = evidence.partition(f'id="offer-{offer}"')[2].partition("</tr>")[0]
        assert documents[offer][:16] in part, offer


def test_the_headline_and_the_bill(page: str, offers: Sequence[Offer], file: Path) -> None:
    """The three prices of the H100; what each plan saves for 16 machines at 80 %, and such a machine elsewhere.

    A machine of another size, or of none that is known, is compared neither there nor on the page of the chip.
    """
    on_demand = of_machine(offers, "H100", "on_demand")
    plan = of_machine(offers, "H100", "commitment", 8760)
    other = elsewhere(offers, "H100")
    assert on_demand and plan and other
    news = text(re.search(r"<h1>(.*?)</h1>", page, re.DOTALL)[1])  # type: ignore[index]
    assert f"{on_demand['price']:.2f} USD an hour at AWS, {plan['price']:.2f} on a one-year plan" in news
    assert f"{other['price']:.2f} at {other['service_provider_name']}" in news
    assert "&lt;small" not in page
    told = text(page.partition('class="bill"')[2].partition("</section>")[0])
    hours = on_demand["chips"] * 16 * 8760
    longer = of_machine(offers, "H100", "commitment", 26280)
    assert longer and longer["price"] < plan["price"]
    assert f"Of 16 x p5.48xlarge at 80 % use: {0.8 * hours * on_demand['price'] / 1e6:,.2f} million USD a year" in told
    for years, best, words in (("one", plan, "{:,.0f}"), ("three", longer, "{0:,.2f} million")):
        saving = hours * (0.8 * on_demand["price"] - best["price"])
        fall = (1 - best["price"] / (0.8 * on_demand["price"])) * 100
        use = best["price"] / on_demand["price"] * 100
        saved = words.format(saving if years == "one" else saving / 1e6)
        until = f"on demand falls {fall:.{0 if fall > 10 else 1}f} % or use stays below {use:.0f} %."
        assert f"The best {years}-year plan saves {saved} USD a year, unless {until}" in told
    alike = elsewhere([each for each in offers if each["capacity_class"] == on_demand["capacity_class"]], "H100")
    assert alike and alike["service_provider_name"] == "Lambda" != other["service_provider_name"]
    saving = (1 - alike["price"] / on_demand["price"]) * 100
    assert f"at Lambda costs {alike['price']:.2f} USD an hour, {saving:.0f} % less" in told
    chip = text((file.parent / "reports/chips/h100.html").read_text(encoding="utf-8"))
    assert f"Lambda {alike['price']:.2f} \N{MINUS SIGN}{saving:.1f} % to AWS" in chip


def test_forms_stay_apart_where_no_price_of_aws_is_ranked(file: Path) -> None:
    """The machines of AWS say which form is compared; a chip that is sold in another form alone says that."""
    query = (SQL / "front_cell.sql").read_text().replace("from int.accelerator_hour_price", "from aged")
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute(
            "create temp table aged as select * replace (is_ranked and service_provider_name <> 'AWS' as is_ranked) "
            "from int.accelerator_hour_price"
        )
        found = con.execute(
            "select accelerator_name, cell, form_factor, service_provider_name, unknown_reason "
            f"from ({query}) where accelerator_name in ('H100', 'V100') and cell in ('aws_on_demand', 'elsewhere')"
        ).fetchall()
        cheapest = con.execute(
            "select form_factor from int.provider_price where accelerator_name = 'H100' and purchase_option = "
            "'on_demand' and service_provider_name <> 'AWS' and price_rank is not null order by cheapest_price_usd"
        ).fetchone()
    assert cheapest == ("PCIe",)
    assert found == [
        ("H100", "aws_on_demand", "SXM", None, "last seen 2026-09-24"),
        ("H100", "elsewhere", "SXM", "Hyperstack", None),
        ("V100", "aws_on_demand", "SXM", None, "last seen 2026-09-24"),
        ("V100", "elsewhere", None, None, "other form"),
    ]


def test_the_chart_ends_where_the_table_is(page: str, offers: Sequence[Offer]) -> None:
    """AWS and the lowest elsewhere have the table's prices at the ends of their lines, the median the middle of all."""
    on_demand, other = of_machine(offers, "H100", "on_demand"), elsewhere(offers, "H100")
    assert on_demand and other
    best: dict[str, float] = {}
    for each in offers:
        if (
            each["service_provider_name"] != "AWS" and each["chip"] == "H100" and each["is_ranked"]
            and each["purchase_option"] == "on_demand" and each["form"] == on_demand["form"]
            and each["statistic"] != "median"
        ):  # fmt: skip
            name = each["service_provider_name"]
            best[name] = min(each["price"], best.get(name, each["price"]))
    names = re.findall(r'class="name (\w+)">([^<]+)<', page)
    told = {name: words.split()[-1] for name, words in names}
    assert told == {
        "aws": f"{on_demand['price']:.2f}", "lowest": f"{other['price']:.2f}", "median": f"{median(best.values()):.2f}",
    }  # fmt: skip


def test_the_market_is_drawn_from_three_providers_on(file: Path) -> None:
    """In 2024 one provider's H100 was seen: its price was no market's lowest or median."""
    ((n,),) = (
        tuple(row.values())
        for row in records(
            file,
            "select count(distinct o.service_provider_name) from int.front_line as l join core.offer_unit as u "
            "on l.accelerator_name = u.accelerator_name join core.offer as o on u.offer_id = o.offer_id "
            "join int.price_history as h on o.offer_id = h.offer_id and h.valid_from <= l.begins_at "
            "where l.line_name = 'lowest' and l.accelerator_name = 'H100' and o.purchase_option = 'on_demand' "
            "and o.service_provider_name <> 'AWS' and u.form_factor = 'SXM' and l.begins_at = (select min(begins_at) "
            "from int.front_line where line_name = 'lowest' and accelerator_name = 'H100')",
        )
    )
    assert n >= 3


def test_the_trust_line(page: str, file: Path) -> None:
    """How many prices, by the kind of their evidence."""
    ((n, n_bytes, n_typed),) = (
        tuple(row.values())
        for row in records(
            file,
            "select count(*), count(*) filter (where evidence_kind = 'provider_bytes'), "
            "count(*) filter (where evidence_kind = 'transcribed') from mart.price_now",
        )
    )
    trust = text(page.partition('class="trust"')[2].partition("</p>")[0])
    assert f"{n:,} prices: {n_bytes:,} from providers' own bytes, {n_typed:,} transcribed" in trust
