"""One price moves what it must, and nothing else: two files of the archive, one with one newer row of one offer.

AWS's only machine with H200, its cheapest, gets a newer price; the archive's day stays what it is, and so do all ages
but that of the offer. Files are compared row by row, the front page cell by cell, the mail line by line.
"""

import email
import email.policy
import html
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp, log
from pathlib import Path
from typing import Any

import duckdb
import pytest
from published import named

from extract import price_archive
from flows.collect import steps
from flows.config.settings import Settings
from reports.pages import site
from transform.models import PUBLIC

FILE = "aws_us_east_1_2026-09"
MACHINE, CHIP, CHIPS = "p5en.48xlarge", "H200", 8
AT, DAY = datetime(2026, 10, 7), "2026-10-07"  # noqa: DTZ001 (as DuckDB has it, in UTC)
WEEK = "2026-W41"
BEFORE, AFTER = 63.296 / CHIPS, 50.64 / CHIPS
SECOND_RUN = datetime(2026, 11, 21, 9, 1, tzinfo=UTC)
SERIES = f"accelerator_name = '{CHIP}' and purchase_option = 'on_demand'"
UP = (f"{SERIES} and service_provider_name = 'AWS'", f"{SERIES} and index_level = 'chip'", "index_level = 'all'")
"""The index's series with the offer: its provider's, its chip's, that of all chips."""
LOOKED = ("last_tried_at", "last_good_at", "age_days", "n_rows")

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Side:
    """A data directory of the archive, and a connection to its published file."""

    folder: Path
    con: duckdb.DuckDBPyConnection

    def rows(self, query: str) -> list[Row]:
        """Return what the published file says."""
        return named(self.con.execute(query))

    def cells(self) -> dict[tuple[str, int], str]:
        """Return the cells of the front page's table, by chip and number of the column."""
        page = (self.folder / "reports" / "index.html").read_text(encoding="utf-8")
        body = page.partition('id="chips"')[2].partition("<tbody")[2].partition("</tbody>")[0]
        found: dict[tuple[str, int], str] = {}
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
            cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
            chip = plain(cells[0]).split()[0]
            found |= {(chip, number): cell for number, cell in enumerate(cells)}
        return found

    def drift_page(self) -> str:
        """Return the page of drift."""
        return (self.folder / "reports" / "drift.html").read_text(encoding="utf-8")

    def drifts(self) -> dict[tuple[str, ...], list[str]]:
        """Return the rows of the page of drift, by table, its group, and name, as lists of cells as HTML."""
        page = self.drift_page()
        found: dict[tuple[str, ...], list[str]] = {}
        for table in re.split(r'<div class="frame" id="(?=drift-)', page)[1:]:
            body, group = table.partition("<tbody")[2].partition("</tbody>")[0], ""
            for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL):
                cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
                if len(cells) == 1:
                    group = plain(cells[0])
                    continue
                found[table.partition('"')[0], group, plain(cells[0])] = cells[1:]
        return found

    def mail(self) -> str:
        """Return the text of the week's message, its subject in the first line, without breaks of lines."""
        message = email.message_from_bytes(
            (self.folder / "mail" / f"{WEEK}.eml").read_bytes(), policy=email.policy.default
        )
        part = message.get_body(("plain",))
        assert part is not None
        return f"{message['Subject']}\n{part.get_content()}"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The archive as it is, and with one row more."""

    without: Side
    moved: Side

    def differing(self, query: str) -> tuple[list[Row], list[Row]]:
        """Return the rows that only the one has, and those that only the other has.

        Where number and hashes of all rows are the same there are none: to look at each row takes ten times as long.
        """
        hashes = f"select count(*) as n, sum(hash(each)) as sum, bit_xor(hash(each)) as xor from ({query}) as each"
        if self.without.rows(hashes) == self.moved.rows(hashes):
            return [], []
        one, other = (
            Counter(tuple((name, str(value)) for name, value in row.items()) for row in side.rows(query))
            for side in (self.without, self.moved)
        )  # fmt: skip
        return [dict(row) for row in (one - other).elements()], [dict(row) for row in (other - one).elements()]

    def changed(self, query: str) -> dict[str, tuple[Any, Any]]:
        """Return the columns in which the one row of a query differs, with both values."""
        ((one,), (other,)) = self.without.rows(query), self.moved.rows(query)
        return {name: (one[name], other[name]) for name in one if one[name] != other[name]}

    @property
    def offer(self) -> int:
        """Return the offer whose price moved."""
        (row,) = self.without.rows(
            f"select offer_id from mart.price_now where {SERIES} and instance_type = '{MACHINE}' "
            "and region_id = 'us-east-1'"
        )
        return int(row["offer_id"])


def plain(cell: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<svg.*?</svg>", "", cell))).split())


@pytest.fixture(scope="module")
def pair(offline_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Return the archive's file, and that of a copy with one row more, published on top of it.

    Of the pages made of the file alone the copy has that of drift anew.
    """
    folder = tmp_path_factory.mktemp("one-price")
    shutil.copytree(offline_run, folder / "moved")
    shutil.copytree(str(price_archive.ARCHIVE), folder / "archive")
    file = folder / "archive" / "prices" / f"{FILE}.csv"
    (row,) = re.findall(rf"^.*,{re.escape(MACHINE)},.*,on_demand,.*$", file.read_text(), flags=re.MULTILINE)
    with file.open("a") as table:
        table.write(row.replace(row[:10], DAY).replace("63.296", "50.64") + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(price_archive, "ARCHIVE", folder / "archive")
        patch.setattr(site, "PAGES", tuple(page for page in site.PAGES if page.path == "drift.html"))
        settings = Settings(data_dir=folder / "moved", site={"charts": False})
        summary = steps.run(settings, offline=True, clock=lambda: SECOND_RUN)
    assert not summary.failed
    assert sum(each.n_events for each in summary.results) == 1
    with ExitStack() as held:
        without, moved = (
            Side(folder=each, con=held.enter_context(duckdb.connect(str(each / "prices.duckdb"), read_only=True)))
            for each in (offline_run, folder / "moved")
        )
        yield Pair(without=without, moved=moved)


def test_its_price_moves_and_no_other(pair: Pair) -> None:
    """The row of its offer, in price and age."""
    assert pair.changed(f"from mart.price_now where offer_id = {pair.offer}") == {
        "price_per_accelerator_hour_usd": (BEFORE, AFTER), "age_days": (21, 8)
    }  # fmt: skip
    assert pair.differing(f"from mart.price_now where offer_id <> {pair.offer}") == ([], [])


def test_its_history_has_one_step_more(pair: Pair) -> None:
    """The old price ends when the new one begins, and one change says so."""
    of_offer = f"from mart.price_history where offer_id = {pair.offer} order by valid_from"
    spans = [
        [(row["price_per_accelerator_hour"], row["valid_to"]) for row in side.rows(of_offer)]
        for side in (pair.without, pair.moved)
    ]
    none, (change,) = pair.differing("from mart.price_change")

    assert spans[0][-1] == (BEFORE, None)
    assert spans[1] == [*spans[0][:-1], (BEFORE, AT), (AFTER, None)]
    assert pair.differing(f"from mart.price_history where offer_id <> {pair.offer}") == ([], [])
    assert none == []
    assert (change["offer_id"], change["change_kind"], change["observed_at"]) == (
        str(pair.offer), "list_change", str(AT)
    )  # fmt: skip


@pytest.mark.parametrize("table", ["mart.provider_price", f"mart.cheapest('{CHIP}')"])
def test_the_cheapest_of_its_provider_is_the_new_price(pair: Pair, table: str) -> None:
    """AWS's row of the chip; of others no more than their rank, and how far they are from AWS."""
    own = pair.changed(f"from {table} where {SERIES} and service_provider_name = 'AWS'")
    relative = ["price_rank", "distance_to_aws"] if table == "mart.provider_price" else ["price_rank"]

    assert own["cheapest_price_usd"] == (BEFORE, AFTER)
    assert "offer_id" not in own
    assert pair.differing(
        f"select * exclude ({', '.join(relative)}) from {table} where offer_id <> {pair.offer}"
    ) == ([], [])  # fmt: skip
    assert pair.differing(f"from {table} where not ({SERIES})") == ([], [])


@pytest.mark.parametrize("chip", ["H100", "B200", "A100-80GB", "L40S"])
def test_the_cheapest_of_other_chips_stay(pair: Pair, chip: str) -> None:
    assert pair.differing(f"from mart.cheapest('{chip}')") == ([], [])


def test_plans_are_compared_with_the_new_price(pair: Pair) -> None:
    """Those of its machine and region, in what they are compared with alone."""
    one, other = pair.differing("from mart.commitment")

    assert len(one) == len(other) == 6
    for row in (*one, *other):
        assert (row["instance_type"], row["region_id"]) == (MACHINE, "us-east-1")
    for rows, price in ((one, BEFORE), (other, AFTER)):
        for row in rows:
            assert float(row["on_demand_price_usd"]) == price
            share = float(row["price_per_accelerator_hour_usd"]) / price
            assert float(row["breakeven_share_on_demand"]) == pytest.approx(share, rel=1e-12)
    without = "select * exclude (on_demand_price_usd, breakeven_share_on_demand) from mart.commitment"
    assert pair.differing(without) == ([], [])


def parts(pair: Pair) -> list[float]:
    """Return the logarithm of the move by its share in each of the three series, which is one through what they have.

    All that is in a series has the same weight.
    """
    query = "select n_matched, n_series from int.price_index where index_date = '{}' and purchase_option = 'on_demand'"
    found = [pair.without.rows(f"{query.format(DAY)} and {where}") for where in UP]
    part, shares = log(AFTER / BEFORE), []
    for n, (row,) in enumerate(found):
        part /= row["n_series" if n else "n_matched"]
        shares.append(part)
    return shares


def test_drift_moves_by_its_part(pair: Pair) -> None:
    """On the day of the move in the index, and in each window that has the day; of no other series anything."""
    day = f"index_date = '{DAY}' and purchase_option = 'on_demand'"
    windows = "purchase_option = 'on_demand' and window_days in (30, 90, 365) and drift is not null"
    others = f"not (purchase_option = 'on_demand' and ({' or '.join(f'({where})' for where in UP)}))"
    n_known = 0
    for where, part in zip(UP, parts(pair), strict=True):
        of_day = f"select drift_log from mart.price_index where {day} and {where}"
        one, other = (side.rows(of_day)[0]["drift_log"] for side in (pair.without, pair.moved))
        assert other - one == pytest.approx(part, abs=1e-12)
        query = f"select window_days, drift from int.drift_report where {windows} and {where} order by 1"
        for row, after in zip(pair.without.rows(query), pair.moved.rows(query), strict=True):
            assert row["window_days"] == after["window_days"]
            assert log((1 + after["drift"]) / (1 + row["drift"])) == pytest.approx(part, abs=1e-9)
            n_known += 1
    assert n_known >= 7
    assert pair.differing(f"from int.drift_report where {others}") == ([], [])
    assert pair.differing(f"from mart.price_index where index_date < '{DAY}' or {others}") == ([], [])
    week = "select * exclude (sparkline, spark_days, mix_effect) from int.drift_report"
    assert pair.differing(f"{week} where window_days = 7") == ([], [])


def test_its_rows_on_the_page_of_drift_move(pair: Pair) -> None:
    """Its provider's, its chip's and that of all chips, each window by its part; of the page nothing else."""
    one, other = pair.without.drifts(), pair.moved.drifts()
    names = (
        ("drift-providers-on-demand", CHIP, "AWS"), ("drift-chips-on-demand", "", CHIP),
        ("drift-chips-on-demand", "", "All chips, equal weights"),
    )  # fmt: skip
    assert len(one) > 100
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} == set(names)
    n_known = 0
    for name, where, part in zip(names, UP, parts(pair), strict=True):
        query = (
            f"select window_days as days, drift from int.drift_report where {where} and purchase_option = 'on_demand'"
        )
        drifts = {row["days"]: row["drift"] for row in pair.without.rows(query)}
        for column, days in enumerate((7, 30, 90, 365)):
            before, after = (plain(side[name][column]).rstrip("*") for side in (one, other))
            moved = 0 if days == 7 else part
            if drifts[days] is None:
                assert before == after == "\N{EN DASH}"
                continue
            assert [before, after] == [shown_change((1 + drifts[days]) * exp(log_of) - 1) for log_of in (0, moved)]
            n_known += days != 7
    assert n_known >= 7
    rest = [re.sub(r"<tbody.*?</tbody>", "", side.drift_page(), flags=re.DOTALL) for side in (pair.without, pair.moved)]
    assert rest[0] == rest[1]


def shown_change(ratio: float) -> str:
    """Return a change as a page shows it."""
    sign = "" if abs(ratio) < 1e-9 else "+" if ratio > 0 else "\N{MINUS SIGN}"
    return f"{sign}{abs(ratio) * 100:.1f} %"


def test_tokens_cost_less_by_the_price(pair: Pair) -> None:
    """Each cost at its offer; of others the rank moves, and of what nobody collected the cost that it must beat."""
    known = "usd_per_million_output_tokens"
    query = f"select * exclude (cost_rank, age_days) from mart.token_cost where offer_id = {pair.offer} order by all"
    keyed = [
        {tuple(value for name, value in row.items() if name != known): row[known] for row in side.rows(query)}
        for side in (pair.without, pair.moved)
    ]
    others = "select * exclude (cost_rank{}) from mart.token_cost where offer_id {}"

    assert len([cost for cost in keyed[0].values() if cost]) > 20
    assert keyed[1] == {
        row: pytest.approx(cost * AFTER / BEFORE, rel=1e-12) if cost else None for row, cost in keyed[0].items()
    }
    assert pair.differing(others.format("", f"<> {pair.offer}")) == ([], [])
    assert pair.differing(others.format(", cost_basis", "is null")) == ([], [])
    assert pair.differing(f"from mart.token_cost where accelerator_name <> '{CHIP}' and offer_id is null") == ([], [])


def test_the_look_at_its_file_is_newer(pair: Pair) -> None:
    """It has one row more; all other scopes are as they were."""
    scope = f"from mart.source_health where scope = '{FILE}'"
    changed = pair.changed(scope)

    assert set(changed) == set(LOOKED)
    assert changed["last_good_at"][1] == AT
    assert changed["n_rows"][1] == changed["n_rows"][0] + 1
    assert pair.differing(f"from mart.source_health where scope <> '{FILE}'") == ([], [])


JUDGED = {"price_now", "price_history", "price_change", "price_index", "provider_price", "commitment", "token_cost",
          "source_health"}  # fmt: skip


@pytest.mark.parametrize("table", sorted({model.name for model in PUBLIC} - JUDGED))
def test_nothing_else_moves(pair: Pair, table: str) -> None:
    """Public tables that are not judged above have the same rows."""
    assert pair.without.rows(f"select count(*) as n from mart.{table}")[0]["n"]
    assert pair.differing(f"from mart.{table}") == ([], [])


def headline_costs(pair: Pair) -> list[float]:
    """Return what a million tokens cost on its chip at the headline's point, before and after."""
    return [
        side.rows(
            f"select usd_per_million_output_tokens as usd from int.headline_token_cost "
            f"where accelerator_name = '{CHIP}' and option_kind = 'on_demand' and place = 'AWS'"
        )[0]["usd"]
        for side in (pair.without, pair.moved)
    ]


def test_its_cells_on_the_front_page_move(pair: Pair) -> None:
    """Price, change of 90 days and cost per token on demand of its chip; no other cell of the table."""
    one, other = pair.without.cells(), pair.moved.cells()
    changed = {cell: (plain(one[cell]), plain(other[cell])) for cell in one if one[cell] != other[cell]}
    tokens = headline_costs(pair)

    assert len(one) == len(other) > 80
    assert one.keys() == other.keys()
    assert {chip for chip, _ in changed} == {CHIP}
    assert changed[CHIP, 1] == (f"{BEFORE:.2f}", f"{AFTER:.2f}")
    assert f'data-offer-id="{pair.offer}"' in other[CHIP, 1]
    assert changed[CHIP, 7] == tuple(f"{cost:.3g}" for cost in tokens)
    assert tokens[1] == pytest.approx(tokens[0] * AFTER / BEFORE, rel=1e-12)
    assert set(changed) == {(CHIP, 1), (CHIP, 6), (CHIP, 7)}
    cells = f"from int.front_cell where offer_id is distinct from {pair.offer}"
    assert pair.differing(cells) == ([], [])
    assert pair.changed(f"from int.front_cell where offer_id = {pair.offer}")["price_per_accelerator_hour_usd"] == (
        BEFORE, AFTER
    )  # fmt: skip


def test_the_mail_tells_of_it(pair: Pair) -> None:
    """One sentence and one line of moves, its cost per token, its price; that AWS was not read is said no more."""
    one, other = (Counter(each.strip() for each in side.mail().splitlines()) for side in (pair.without, pair.moved))
    gone, new = list((one - other).elements()), list((other - one).elements())
    node = (AFTER - BEFORE) * CHIPS * 730
    (move,) = [each for each in new if each.startswith(f"{CHIP} SXM, AWS ")]
    sentences = [each for each in new if each.startswith("AWS cut")]
    of_chip = [[each for each in lines if each.startswith(CHIP) and "|" in each] for lines in (gone, new)]

    assert move.split()[-5:] == [
        f"{BEFORE:.2f}",
        f"{AFTER:.2f}",
        "\N{MINUS SIGN}20.0",
        "%",
        f"\N{MINUS SIGN}{-node:,.0f}",
    ]
    assert sentences == ["AWS cut 1 list price by 20 %."]
    assert len(of_chip[0]) == 2  # tokens, cheapest
    for before, after in zip(*of_chip, strict=True):
        changed = [(a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b]
        assert changed in ([tuple(f"{cost:.3g}" for cost in headline_costs(pair))], [(f"{BEFORE:.2f}", f"{AFTER:.2f}")])
    # the rest says that a provider more was read, and counts moves of which five are shown
    rest = [each for each in gone if each not in of_chip[0]]
    assert [
        each
        for each in rest
        if not re.search(r"AWS|^and Nebius|none moved|^chips[.]$|and 16 more[.]$|L40S, Verda|1 more move", each)
    ] == []
    rest = [each for each in new if each not in (*of_chip[1], move, *sentences)]
    assert [
        each
        for each in rest
        if not re.search(
            r"6 more moves|2 more moves|\d+ providers not seen|^Cloud|and 15 more[.]$|^Nebius|^L40S, Verda: 1.37",
            each,
        )
    ] == []
