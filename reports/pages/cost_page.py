"""The cost-per-token page: chip by chip at equal operating points, and what has no cost, with the reason.

Every number is a mart's; here they are chosen, rounded and compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from reports import wording
from reports.charts import site_charts
from reports.pages.frame import frame
from reports.queries import Row, ask, build
from reports.tables.price_tables import TERMS
from reports.tables.table import Column, Number, Table, left_out, outside, small, span

PLACE = "cost.html"
TASKS = {"serving": "serving", "offline": "offline, without a limit of latency"}
NOT_INCLUDED = "egress, storage, support, tax and cost of capital"
MAX_POINTS = 8
"""Columns of the table of all chips; each is the operating point of a model at which most chips have a cost."""
MAX_CHIPS = 24
MAX_ROWS = 30
"""Of a table of one model; with every commitment of every provider there would be hundreds."""
LEFT_OUT = {"run": "measured runs", "price": "prices", "end of range": "ends of a range of costs"}
NO_LOW = f"{wording.UNKNOWN} under low: no cheaper price or faster run than the median is known. "
ONE_TOKEN = "one token a step"  # noqa: S105 (a way to decode)

NO_RUN = "no run"
OTHER_POINT = "other point"
NO_PRICE = "no price fits"
REASONS = (
    f"{NO_RUN}: no run of this model on this chip is known to us; {OTHER_POINT}: it was measured, at another operating "
    f"point or precision; {NO_PRICE}: it was measured at this point, and nobody is known to sell it on demand in that "
    "form and size, or too fast a speed is wanted of it."
)


class Point(NamedTuple):
    """One operating point: what must be equal where costs are compared. A run has all but the last two, which are
    of the speed wanted of it.
    """

    model_name: Any
    task: Any
    scenario: Any
    benchmark: Any
    precision: Any
    input_length: Any
    output_length: Any
    decoding: Any
    interactivity: Any = None
    interactivity_statistic: Any = None

    @classmethod
    def of(cls, row: Row) -> "Point":
        """Return the point of a row."""
        return cls(*(row.get(name) for name in cls._fields))

    @property
    def measured_as(self) -> tuple[Any, ...]:
        """Return what a run says of its point, which has no speed asked of it."""
        return tuple(self)[:8]

    @property
    def text(self) -> str:
        """Return the point in words, without its model."""
        lengths = None
        if self.input_length is not None:
            out = "?" if self.output_length is None else f"{self.output_length:,.0f}"
            lengths = f"{self.input_length:,.0f} tokens in, {out} out"
        elif self.output_length is not None:
            lengths = f"{self.output_length:,.0f} tokens out"
        speed = None
        if self.interactivity is not None:
            basis = {"median": "median", "p99 limit": "99 % of the time"}.get(self.interactivity_statistic or "", "")
            speed = f"{self.interactivity:g} tokens/s for a user" + (f" ({basis})" if basis else "")
        decoding = None if self.decoding in (None, ONE_TOKEN) else self.decoding
        parts = (self.scenario, self.benchmark, self.precision, lengths, speed, decoding)
        return ", ".join(part for part in parts if part)


def by_point(rows: Iterable[Row]) -> dict[Point, list[Row]]:
    """Return rows by their operating point."""
    found: dict[Point, list[Row]] = {}
    for row in rows:
        found.setdefault(Point.of(row), []).append(row)
    return found


def on_demand(rows: Iterable[Row]) -> list[Row]:
    """Return, of rows of one point, the best-ranked cost on demand of each chip, the cheapest chip first."""
    best: dict[str, Row] = {}
    for row in rows:
        if row["purchase_option"] != "on_demand" or row["cost_rank"] is None:
            continue
        other = best.get(row["accelerator_name"])
        if other is None or row["cost_rank"] < other["cost_rank"]:
            best[row["accelerator_name"]] = row
    return sorted(best.values(), key=lambda row: row["cost_rank"])


def ranked(rows: Iterable[Row]) -> list[Row]:
    """Return the costs that may be called cheapest: no price beyond the limit of age, no rate that is a mere limit."""
    return [row for row in rows if row["cost_rank"] is not None]


def chief_points(rows: Sequence[Row]) -> dict[Point, list[Row]]:
    """Return one point of each model, that at which most chips have a cost on demand, the fullest first; its costs."""
    best: dict[str, tuple[Point, list[Row]]] = {}
    for point, of_point in by_point(rows).items():
        costs = on_demand(of_point)
        if costs and (point.model_name not in best or len(costs) > len(best[point.model_name][1])):
            best[point.model_name] = point, costs
    return dict(sorted(best.values(), key=lambda each: len(each[1]), reverse=True)[:MAX_POINTS])


def render(file: Path, *, draw: bool = False) -> str:
    """Return the page of a published file, with `draw` its charts too; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = build(con)
        rows, trainings = ask(con, "cost_row"), ask(con, "cost_training")
        evidence, sold, counts = ask(con, "cost_evidence"), ask(con, "cost_sold"), ask(con, "cost_point")
        without = ask(con, "cost_excluded")
        charts = site_charts.frontiers(con) if draw else None
    points = chief_points(rows)
    models = list(dict.fromkeys(row["model_name"] for row in rows))
    return frame(
        "cost.html.j2",
        headline=headline(points),
        place=PLACE,
        build=(built_at, version),
        nav=[
            ("chips", "Chip by chip"),
            *([("frontier", "Cost against speed")] if charts else []),
            *((f"m-{name}", name) for name in models),
            ("training", "Training"),
            ("excluded", "Without a cost"),
            ("method", "How it is computed"),
        ],
        compared=_compared(points),
        not_included=NOT_INCLUDED,
        chips=by_chip(points, evidence, sold),
        charts=charts,
        models=[_model(name, rows, counts) for name in models],
        training=training(trainings) if trainings else None,
        excluded=excluded(without) if without else None,
    )


def headline(points: Mapping[Point, list[Row]]) -> str:
    """Return the finding: at the point where most chips have a cost on demand, the cheapest and the dearest."""
    if not points:
        return "No token has a cost: no price meets a measured run"
    point, every = next(iter(points.items()))
    costs = ranked(every)
    if not costs:
        return "No token has a cost at a price that is recent enough to be ranked"
    ends = (costs[0], costs[-1])[: len(costs)]
    prices = " to ".join(
        f"{wording.significant(row['all_in_output_usd_median'])} ({row['accelerator_name']})" for row in ends
    )
    return (
        f"A million output tokens of {point.model_name} costs {prices} USD on demand, cheapest seen of "
        f"{wording.count(len(costs), 'chip')}"
    )


def _compared(points: Mapping[Point, list[Row]]) -> str:
    """Return at which point the headline compares, and between what dates it was measured and priced."""
    if not points:
        return ""
    point, every = next(iter(points.items()))
    seen = [row["last_observed_at"] for row in ranked(every) or every]
    return f"At {point.text}; prices of {wording.day(min(seen))} to {wording.day(max(seen))}."


def _model(name: str, rows: list[Row], counts: list[Row]) -> tuple[str, list[Table], str]:
    """Return the name of a model, its tables, and what they leave out."""
    of_model = [row for row in rows if row["model_name"] == name]
    (counted,) = [row for row in counts if row["model_name"] == name]
    left = counted["n_points"] - counted["n_alone"] - len(by_point(of_model))
    notes = []
    if left:
        notes.append(f"{wording.count(left, 'older round or other point', 'older rounds and other points')} left out")
    if counted["n_alone"]:
        notes.append(f"at {wording.count(counted['n_alone'], 'point')} one chip alone has a cost")
    by_task = {task: [row for row in of_model if row["task"] == task] for task in TASKS}
    made = [model_table(name, of_task, task, TASKS[task]) for task, of_task in by_task.items() if of_task]
    return name, made, "; ".join(notes) or "Every row"


def by_chip(points: Mapping[Point, Sequence[Row]], evidence: Sequence[Row], sold: Sequence[Row]) -> Table | None:
    """Return a row for each chip and a column for each model's chief point: cost on demand, or why there is none."""
    if not points:
        return None
    costs = {point: {row["accelerator_name"]: row for row in of_point} for point, of_point in points.items()}
    measured = {(Point.of(row).measured_as, row["accelerator_name"]) for row in evidence}
    modelled = {(row["model_name"], row["accelerator_name"]) for row in evidence}
    with_run = {row["accelerator_name"] for row in evidence}
    costed = {name for of_point in costs.values() for name in of_point}
    names = [row["accelerator_name"] for row in sold]
    chips = sorted(costed, key=lambda name: (-sum(name in each for each in costs.values()), name))
    chips += [name for name in names if name not in costed][: max(MAX_CHIPS - len(chips), 0)]

    def cell(chip: str, point: Point) -> str:
        if row := costs[point].get(chip):
            return _greyed(row, _at_most(row, row["all_in_output_usd_median"])) + small(row["form_factor"])
        if (point.measured_as, chip) in measured:
            return wording.UNKNOWN + small(NO_PRICE)
        return wording.UNKNOWN + small(OTHER_POINT if (point.model_name, chip) in modelled else NO_RUN)

    def column(point: Point) -> Column:
        head = (point.model_name or wording.UNKNOWN) + small(point.text)
        return Number(head, lambda row: cell(row["chip"], point))

    left = [name for name in names if name not in chips]
    without = sum(name not in with_run for name in left)
    more = f" {wording.count(len(left), 'more chip')} sold on demand left out, {without:,} of them without any run."
    last = wording.day(max((row["last_observed_at"] for row in sold if row["last_observed_at"]), default=None))
    return Table(
        id="beside",
        title=f"{len(costed):,} of {wording.count(len({*names, *costed}), 'chip')} sold on demand have a cost",
        subtitle="USD per million output tokens, cheapest seen on demand, full load; each column is one operating "
        f"point of one model. Prices up to {last}; grey and in italics what is never ranked: "
        "a price beyond the limit of age, and a cost that is known as 'at most' alone.",
        rows=[{"chip": chip} for chip in chips],
        columns=[Column("Chip", "chip"), *map(column, points)],
        note=REASONS + (more if left else ""),
    )


def model_table(name: str, every: Sequence[Row], task: str, scope: str) -> Table:
    """Return the costs of a model, grouped by operating point, each way to buy in rows of its own."""
    rows = every[:MAX_ROWS]
    n_points = len({Point.of(row).text for row in rows})
    lowest = all(row["all_in_output_usd_low"] is not None for row in rows)
    bounded = all(row["share_of_bound"] is not None for row in rows)
    return Table(
        id=f"t-{_anchor(name)}-{task}",
        title=f"{name}, {scope}: {_finding(rows)}",
        subtitle=f"USD per million output tokens at full load, at {wording.count(n_points, 'operating point')}; of "
        "each chip and way to buy the cheapest seen. Rows of one point and one way to buy compare.",
        rows=rows,
        group=lambda row: Point.of(row).text,
        columns=[
            Column("Chip", _chip),
            Column("Bought", _option, pick=True),
            Number("Low", lambda row: wording.significant(row["all_in_output_usd_low"])),
            Number("Median", lambda row: _greyed(row, _at_most(row, row["all_in_output_usd_median"]))),
            Number("High", lambda row: wording.significant(row["all_in_output_usd_high"])),
            Number("Of bound", _share),
            Column("Grade,\nmeasured", _grade),
            Number("USD per\nchip-hour", _price),
            Column("Sold by", _sold),
        ],
        note=("" if lowest else NO_LOW)
        + ("" if bounded else f"{wording.UNKNOWN} under bound: no bound is known. ")
        + "Spot as if never interrupted, commitments as if used in every hour."
        + left_out(len(every) - len(rows), "more row"),
    )


def training(rows: Sequence[Row]) -> Table:
    """Return what training costs, grouped by model and round; rows of one number of chips compare best."""

    def point(row: Row) -> str:
        return wording.listed(row["model_name"], row["benchmark"], row["precision"])

    bounded = all(row["share_of_bound"] is not None for row in rows)
    return Table(
        id="t-training",
        title=f"Training at {wording.count(len({point(row) for row in rows}), 'operating point')}",
        subtitle="USD to train on a million tokens; the newest round of each benchmark, cheapest seen of each chip.",
        rows=rows,
        group=point,
        columns=[
            Column("Chip", _chip),
            Number("Chips", lambda row: f"{row['accelerator_count']:,.0f}"),
            Column("Bought", _option, pick=True),
            Number("Low", lambda row: wording.significant(row["usd_per_million_tokens_low"])),
            Number("Median", lambda row: _greyed(row, wording.significant(row["usd_per_million_tokens_median"]))),
            Number("High", lambda row: wording.significant(row["usd_per_million_tokens_high"])),
            Number("Of bound", _share),
            Column("Grade,\nmeasured", _grade),
            Number("USD per\nchip-hour", lambda row: _price(row) + small(row["service_provider_name"])),
        ],
        note="" if bounded else f"{wording.UNKNOWN} under bound: no bound is known for this way to train. ",
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


def _finding(rows: Sequence[Row]) -> str:
    costs = [row for row in rows if row["purchase_option"] == "on_demand"]
    if not costs:
        return "no price on demand"
    # The fullest point stands first.
    ranked = on_demand(by_point(costs)[Point.of(costs[0])])
    if not ranked:
        return "no price on demand within the limit of age"
    row = ranked[0]
    price = wording.significant(row["all_in_output_usd_median"])
    return f"{_chip(row)} at {price} on demand is the cheapest, {row['scenario']} {row['precision'] or ''}".rstrip()


def _chip(row: Row) -> str:
    return " ".join(filter(None, (row["accelerator_name"], row["form_factor"])))


def _option(row: Row) -> str:
    words, term = wording.option(row["purchase_option"]), TERMS.get(row["commitment_class"])
    return f"{words}, {term}" if term else words


def _greyed(row: Row, text: str) -> str:
    """Return a cell, grey where the cost is not to be ranked: an old price, or a rate that is a mere limit."""
    plain = row.get("reach") != "at most" and row.get("is_price_ranked", row.get("is_current"))
    return text if plain or text == wording.UNKNOWN else span(text, "past")


def _at_most(row: Row, cost: float | None) -> str:
    text = wording.significant(cost)
    return f"at most {text}" if row["reach"] == "at most" else text


def _share(row: Row) -> str | None:
    share = row["share_of_bound"]
    return None if share is None else f"{share * 100:,.0f} %"


def _grade(row: Row) -> str:
    measured = f"{row['measured_on']:%Y-%m-%d}" if row["measured_on"] else "undated"
    return (row["evidence_grade"] or wording.UNKNOWN) + " " + outside(measured, row["source_url"])


def _price(row: Row) -> str:
    price = wording.amount(row["median_price_usd"], wording.places_of([row["median_price_usd"]]))
    return _greyed(row, price) + small(wording.day(row["last_observed_at"]))


def _sold(row: Row) -> str:
    notes = small(wording.listed(row["instance_type"], row["region_id"]))
    return (row["service_provider_name"] or wording.UNKNOWN) + notes


def _anchor(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())
