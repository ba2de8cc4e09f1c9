"""The last lines of a run: at most a hundred columns, and each number the one of int.front_chip."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from flows.collect import summary
from warehouse.log.parsed import ScopeResult

COLUMNS = (
    "form_factor", "aws_on_demand_usd", "aws_1y_usd", "aws_3y_usd", "aws_spot_lowest_usd", "aws_spot_highest_usd",
    "elsewhere_usd", "elsewhere_provider_name", "token_on_demand_usd",
)  # fmt: skip


def rows(file: Path) -> dict[str, dict[str, object]]:
    with duckdb.connect(str(file), read_only=True) as con:
        sql = f"select accelerator_name, {', '.join(COLUMNS)} from int.front_chip"
        return {row[0]: dict(zip(COLUMNS, row[1:], strict=True)) for row in con.execute(sql).fetchall()}


def money(value: object) -> str:
    return "-" if value is None else f"{value:.2f}"


def test_every_number_of_the_chips_is_the_front_page_s(offline_run: Path) -> None:
    """Cell by cell, in the order of the heads; spot is one price where both ends are equal to the cent."""
    file = offline_run / "prices.duckdb"
    told, known = list(summary.price_lines(file)), rows(file)
    assert max(map(len, told)) <= 100
    assert told[1].split()[:7] == ["AWS", "1", "year", "3", "years", "spot", "elsewhere"]
    shown = {re.match(r"\S+", line.strip())[0]: line for line in told[2:-1]}  # type: ignore[index]
    assert list(shown) == list(summary.CHIPS)
    n_numbers = 0
    for chip, line in shown.items():
        row = known[chip]
        low, high = money(row["aws_spot_lowest_usd"]), money(row["aws_spot_highest_usd"])
        tokens = row["token_on_demand_usd"]
        expected = [
            *filter(None, (chip, row["form_factor"])),
            *(money(row[name]) for name in COLUMNS[1:4]), low if low == high else f"{low}-{high}",
            *([money(row["elsewhere_usd"]), *str(row["elsewhere_provider_name"]).split()]
              if row["elsewhere_usd"] is not None else ["-"]),
            "-" if tokens is None else f"{tokens:.3g}",
        ]  # fmt: skip
        assert line.split() == expected, line
        n_numbers += len(re.findall(r"\d+\.\d", line))
    assert n_numbers > 20
    assert [shown[chip].split()[1] for chip in ("H100", "H200", "B200")] == ["SXM", "SXM", "SXM"]


def test_the_last_line_is_the_biggest_list_move(offline_run: Path) -> None:
    file = offline_run / "prices.duckdb"
    with duckdb.connect(str(file), read_only=True) as con:
        chip, provider, ratio = con.execute(
            "select f.accelerator_name || ' ' || u.form_factor, service_provider_name, change_ratio "
            "from int.front_move as f join core.offer_unit as u using (offer_id, accelerator_name) "
            "order by abs(change_ratio) desc limit 1"
        ).fetchall()[0]
    way = "rose" if ratio > 0 else "fell"
    told = f"Biggest on-demand move in 90 days: {chip} {way} {abs(ratio):.0%} at {provider}."
    assert [*summary.price_lines(file)][-1].replace(" %", "%") == told


def test_a_run_of_the_archive_says_that_no_price_is_of_today(offline_run: Path) -> None:
    """And does not tell what differs in it as news: it is the same for everybody, and on the page of sources."""
    result = ScopeResult(source="price_archive", scope="a", observed_at=datetime.now(UTC), status="ok")
    made = summary.Summary(run_id="a", started_at=datetime.now(UTC), file=offline_run / "prices.duckdb",
                           report=offline_run / "reports/index.html", results=[result])  # fmt: skip
    of_archive, live = ([*replace(made, results=each).lines()] for each in (made.results, []))
    told = "Prices of the archive in the package, none of today: `chipledger run` fetches those."
    assert (told in of_archive, told in live) == (True, False)
    known = [line for line in of_archive if line.startswith("truth check")]
    assert known == ["truth check differs: 2 known: the report's page of sources says of each"]
    assert sum(line.startswith("truth check differs: generation") for line in live) == 2


def test_wide_names_are_continued_within_a_hundred_columns(offline_run: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """A provider's name of any length leaves the tokens in their column: it is continued below."""
    monkeypatch.setattr(summary, "PRICES", summary.PRICES.replace(
        "elsewhere_provider_name", "repeat('wide ', 50)"))  # fmt: skip
    told = list(summary.price_lines(offline_run / "prices.duckdb"))
    assert max(map(len, told)) <= 100
    heads, first, second, *_ = told[1:]
    assert second.split() == ["wide"] * len(second.split())
    assert first[heads.index("tokens") - 2 :][:2] == "  "
    assert first.endswith(money(rows(offline_run / "prices.duckdb")["H100"]["token_on_demand_usd"])[:4])


def test_the_docs_have_the_counts_of_the_archive(offline_run: Path) -> None:
    """Of docs/quick-start.md what a run prints, of docs/offline-archive.md the offers, all and by option."""
    docs = Path(__file__).parents[2] / "docs"
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        (fetches, rows), changes, offers = (con.execute(sql).fetchone() for sql in (
            "select count(*), sum(n_rows) from core.scope_run", "select count(*) from core.price_event",
            "select count(*) from mart.price_now",
        ))  # fmt: skip
        counts = con.execute(
            "select purchase_option, count(*) filter (is_aws), count(*) filter (is_aws and is_ranked), "
            "count(*) filter (not is_aws), count(*) filter (not is_aws and is_ranked) "
            "from (select *, service_provider_name = 'AWS' as is_aws from mart.price_now) group by all order by all"
        ).fetchall()
    start, archive = ((docs / f"{name}.md").read_text(encoding="utf-8") for name in ("quick-start", "offline-archive"))
    assert f"{fetches} fetches: {fetches} read; {rows:,} rows read; {changes[0]:,} changes stored" in start
    assert f"After a run: {offers[0]:,} offers" in archive
    words = {"reserved": "Reserved", "savings_plan": "Savings Plans", "capacity_block": "Capacity Blocks"}
    assert len(counts) == 5
    for option, *numbers in counts:
        row = " | ".join((words.get(option, option.replace("_", " ")), *(f"{n or ''}" for n in numbers)))
        assert f"\n| {row} |\n".replace("|  ", "| ") in archive
