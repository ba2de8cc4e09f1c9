"""The cost-per-token page: chip by chip at equal operating points, and what has no cost, with the reason.

Every number is a mart's; here they are chosen, rounded and compared.
"""

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from reports import wording
from reports.charts import site_charts
from reports.pages.frame import frame
from reports.queries import Published, Row
from reports.tables.price_tables import TERMS
from reports.tables.table import Column, Number, Table, outside, small, span

PLACE = "cost.html"
NOT_INCLUDED = "egress, storage, support, tax and cost of capital"
LEFT_OUT = {"run": "measured runs", "price": "prices", "end of range": "ends of a range of costs"}
TASKS = {"serving": "serving", "offline": "offline, without a limit of latency"}
STATISTICS = {"median": "median", "p99 limit": "99 % of the time"}
WAYS = (
    ("AWS,\non demand", "on_demand", "AWS", 1),
    ("AWS,\nbest plan", "plan", "AWS", 1),
    ("AWS,\nspot", "spot", "AWS", 1),
    ("AWS, Capacity\nBlock", "capacity_block", "AWS", 1),
    ("Cheapest\nelsewhere", "on_demand", "elsewhere", 1),
    ("Second\nelsewhere", "on_demand", "elsewhere", 2),
)
"""Columns of a model's table: head, kind of option, place and rank in int.model_token_cost."""
SEEN = {("spot", "mean_30d"): "30-day mean", ("spot", "mean_7d"): "7-day mean", ("spot", "price"): "last seen"}


def point_text(row: Row) -> str:
    """Return the operating point of a row in words, without its model."""
    lengths = None
    if row["output_length"] is not None:
        lengths = f"{row['output_length']:,.0f} tokens out"
        if row["input_length"] is not None:
            lengths = f"{row['input_length']:,.0f} tokens in, {lengths}"
    speed = None
    if row["interactivity"] is not None:
        basis = STATISTICS.get(row["interactivity_statistic"] or "")
        speed = f"{row['interactivity']:g} tokens/s for a user" + (f" ({basis})" if basis else "")
    precision = row["precision"] or "precision not stated"
    decoding = row["decoding"] or "decoding not stated"
    return wording.listed(TASKS[row["task"]], row["scenario"], row["benchmark"], precision, lengths, speed, decoding)


def by(rows: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """Return rows by a field, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[name], []).append(row)
    return found


def on_demand(rows: Iterable[Row]) -> list[Row]:
    """Return, of rows of one model, the cheapest cost on demand of each chip, the cheapest chip first."""
    costs = (row for row in rows if row["option_kind"] == "on_demand" and row["usd_per_million_output_tokens"])
    return [each[0] for each in by(costs, "accelerator_name").values()]


def render(published: Published, *, draw: bool = False) -> str:
    """Return the page of a published file, with `draw` its charts too; the same file gives the same bytes."""
    rows, trainings = published.ask("cost_model"), published.ask("cost_training")
    without = published.query("from int.cost_left_out order by left_out_kind desc, n_left_out desc, reason")
    charts = site_charts.frontiers(published.con) if draw else None
    models = by(rows, "model_name")
    return frame(
        "cost.html.j2",
        headline=headline(rows),
        place=PLACE,
        build=published.build,
        nav=[
            *((f"m-{_anchor(name)}", name) for name in models),
            *([("frontier", "Cost against speed")] if charts else []),
            ("training", "Training"),
            ("excluded", "Without a cost"),
            ("method", "How it is computed"),
        ],
        not_included=NOT_INCLUDED,
        charts=charts,
        models=[(_anchor(name), name, model_table(name, of_model)) for name, of_model in models.items()],
        training=training(trainings) if trainings else None,
        excluded=excluded(without) if without else None,
    )


def headline(rows: Sequence[Row]) -> str:
    """Return the finding: of the first model that has a cost, the cheapest and the dearest chip on demand."""
    for name, of_model in by(rows, "model_name").items():
        if costs := on_demand(of_model):
            ends = (costs[0], costs[-1])[: len(costs)]
            prices = " to ".join(
                f"{wording.significant(row['usd_per_million_output_tokens'])} ({row['accelerator_name']})"
                for row in ends
            )
            chips = wording.count(len(costs), "chip")
            return f"A million output tokens of {name} costs {prices} USD on demand, cheapest seen of {chips}"
    return "No token has a cost: no price within the limit of age meets a measured run"


def model_table(name: str, rows: Sequence[Row]) -> Table:
    """Return a row for each chip that has a cost at the model's point, by way to buy; of others in a line why not."""
    chips, without = [], dict[str, list[str]]()
    for chip, of_chip in by(rows, "accelerator_name").items():
        if any(map(_cost, of_chip)):
            chips.append({**of_chip[0], "runs": _runs(of_chip)})
        else:
            reasons = sorted({*map(why, of_chip)})
            without.setdefault("; ".join(reasons), []).append(chip)
    no_cost = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in without.items())
    costs = on_demand(rows)
    finding = f"{costs[0]['accelerator_name']} is the cheapest on demand" if costs else "no cost on demand is known"
    return Table(
        id=f"t-{_anchor(name)}",
        title=f"{name}: {finding}",
        subtitle=f"{point_text(rows[0])}. USD per million output tokens at full load, chips that have a cost first; "
        "under it low and high of repeats that differ, price per chip-hour, who sells and its last day.",
        rows=chips,
        columns=[
            Column("Chip", "accelerator_name"),
            *ways(rows, "accelerator_name"),
            Number(
                "Cheapest seen,\n90 days", lambda row: wording.percent(row["drift_90d"]), why="not known on both days"
            ),
            Column("Measured", "runs"),
        ],
        note="The change of 90 days is of the cheapest seen on demand; new runs and newly seen sellers count in it."
        + (f" No cost: {no_cost}." if no_cost else ""),
    )


def ways(rows: Sequence[Row], name: str) -> list[Column]:
    """Return a column for each way to buy of rows of cost_model.sql; `name` is the field that names a table's rows."""

    def column(head: str, *way: object) -> Column:
        cells = {row[name]: row for row in rows if way_of(row) == way}
        return Number(head, lambda row: _cost(cells[row[name]]), why=lambda row: why(cells[row[name]]))

    known = {way_of(row) for row in rows}
    return [column(head, *way) for head, *way in WAYS if tuple(way) in known]


def way_of(row: Row) -> tuple[object, ...]:
    """Return the way to buy of a row, as WAYS has it."""
    return row["option_kind"], row["place"], row["option_rank"]


def why(row: Row) -> str:
    """Return why a row has no cost; empty where it has one."""
    return "" if row["usd_per_million_output_tokens"] else row["cost_basis"].removeprefix("unknown: ")


def _cost(row: Row) -> str | None:
    """Return a cost with its range, price, day and offer; what it is at most, grey; None where there is none."""
    if not row["usd_per_million_output_tokens"]:
        limit = re.match(r"unknown: (at most \S+),", row["cost_basis"])
        return span(limit[1], "past") if limit else None
    low, high = (wording.significant(row[f"usd_per_million_{end}"]) for end in ("low", "high"))
    sold = (row["service_provider_name"], row["instance_type"], row["region_id"])
    terms = wording.listed(*sold, TERMS.get(row["commitment_class"]), row["offer_terms"])
    spread = None if low == high else f"{low} to {high}"
    price = f"{wording.price(row['price_usd'])} {wording.short(row['service_provider_name'], most=64)}"
    sold_at = span(wording.listed(spread, price, SEEN.get((row["option_kind"], row["price_kind"]))), title=terms)
    seen = span(wording.day(row["last_observed_at"]), "whole")
    return wording.significant(row["usd_per_million_output_tokens"]) + small(sold_at + " " + seen)


def _runs(rows: Iterable[Row]) -> str:
    """Return the runs behind the costs of a chip: how known, grade, day, who, engine, number of chips."""
    runs = {row["throughput_id"]: row for row in rows if row["usd_per_million_output_tokens"]}
    lines = []
    for row in runs.values():
        chips = wording.count(int(row["most_accelerators"]), "chip")
        about = wording.listed(row["reach"], chips, row["measured_by"], row["software"])
        lines.append(
            _grade(row) + small(span(wording.listed(chips, wording.short(row["measured_by"], most=24)), title=about))
        )
    return Markup().join(lines)


def training(rows: Sequence[Row]) -> Table:
    """Return what training costs, grouped by model and round; rows of one number of chips compare best."""

    def point(row: Row) -> str:
        return wording.listed(row["model_name"], row["benchmark"], row["precision"])

    def bought(row: Row) -> str:
        return wording.listed(wording.option(row["purchase_option"]), TERMS.get(row["commitment_class"]))

    return Table(
        id="t-training",
        title=f"Training at {wording.count(len({point(row) for row in rows}), 'operating point')}",
        subtitle="USD to train on a million tokens; the newest round of each benchmark, cheapest seen of each chip.",
        rows=rows,
        group=point,
        columns=[
            Column("Chip", wording.chip),
            Number("Chips", lambda row: f"{row['accelerator_count']:,.0f}"),
            Column("Bought", bought, pick=True),
            Number("Low", lambda row: wording.significant(row["usd_per_million_tokens_low"])),
            Number("Median", lambda row: _greyed(row, wording.significant(row["usd_per_million_tokens_median"]))),
            Number("High", lambda row: wording.significant(row["usd_per_million_tokens_high"])),
            Number("Of bound", lambda row: wording.share(row["share_of_bound"]), why="no bound is known"),
            Column("Grade,\nmeasured", _grade),
            Number("USD per\nchip-hour", lambda row: _price(row) + small(row["service_provider_name"])),
        ],
    )


def excluded(rows: Sequence[Row]) -> Table:
    """Return what has no cost, by reason."""
    counts = {kind: sum(row["n_left_out"] for row in rows if row["left_out_kind"] == kind) for kind in LEFT_OUT}
    return Table(
        id="left-out",
        title=" and ".join(f"{n:,} {LEFT_OUT[kind]}" for kind, n in counts.items() if n) + " without a cost",
        subtitle="Each counted once, by the first reason. Nothing near them is shown instead.",
        rows=rows,
        group=lambda row: str(LEFT_OUT.get(row["left_out_kind"]) or row["left_out_kind"]).capitalize(),
        columns=[Column("Why", lambda row: span(row["reason"], "long")), Number("Left out", "n_left_out")],
    )


def _greyed(row: Row, text: str) -> str:
    """Return a cell, grey where the cost is not to be ranked: an old price, or a rate that is a mere limit."""
    plain = row.get("reach") != "at most" and row.get("is_price_ranked", row.get("is_current"))
    return text if plain or text == wording.UNKNOWN else span(text, "past")


def _grade(row: Row) -> str:
    measured = f"{row['measured_on']:%Y-%m-%d}" if row["measured_on"] else "undated"
    return (row["evidence_grade"] or wording.UNKNOWN) + " " + span(outside(measured, row["source_url"]), "whole")


def _price(row: Row) -> str:
    return _greyed(row, wording.price(row["price_usd"])) + small(wording.day(row["last_observed_at"]))


def _anchor(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
