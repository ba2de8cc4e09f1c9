"""The cost-per-token page: chip beside chip at equal operating points, and what has no cost, with the reason."""

from collections.abc import Mapping
from html import escape
from pathlib import Path

import duckdb

from reports import wording
from reports.charts import site_charts
from reports.pages.frame import frame, section
from reports.queries import Row, ask
from reports.tables import cost_tables
from reports.tables.cost_tables import Point
from reports.tables.sheet import to_html

PLACE = "cost.html"
TASKS = {"serving": "serving", "offline": "offline, without a limit of latency"}
NOT_INCLUDED = "egress, storage, support, tax and cost of capital"


def render(file: Path, *, draw: bool = False) -> str:
    """Return the page of a published file, with `draw` its charts too; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        rows, training = ask(con, "cost_row"), ask(con, "cost_training")
        evidence, sold, counts = ask(con, "cost_evidence"), ask(con, "cost_sold"), ask(con, "cost_point")
        excluded = ask(con, "cost_excluded")
        charts = site_charts.frontiers(con) if draw else ""
    points = cost_tables.chief_points(rows)
    models = list(dict.fromkeys(row["model_name"] for row in rows))
    nav = [("chips", "Chip beside chip"), *((f"m-{name}", name) for name in models)]
    nav += [("training", "Training"), ("excluded", "Without a cost"), ("method", "How it is computed")]
    if charts:
        nav.insert(1, ("frontier", "Cost against speed"))
    parts = [_chips(points, evidence, sold), _frontier(charts), *(_model(name, rows, counts) for name in models)]
    parts += [_training(training), _excluded(excluded), _method()]
    return frame(
        title="Cost per token",
        headline=headline(points),
        place=PLACE,
        built_at=built_at,
        version=version,
        kind="Cost per token",
        header=_compared(points)
        + (
            "<p>Each cost is one measured run on one price, both with their date. Compare within one operating point "
            "and one way to buy only. US dollars per million output tokens, all of the machine charged to them, at "
            f"full load: at 50 % use they cost twice as much. Not included: {NOT_INCLUDED}.</p>"
        ),
        nav=nav,
        main="\n".join(parts),
    )


def headline(points: Mapping[Point, list[Row]]) -> str:
    """Return the finding: at the point where most chips have a cost on demand, the cheapest and the dearest."""
    if not points:
        return "No token has a cost: no price meets a measured run"
    point, every = next(iter(points.items()))
    costs = cost_tables.ranked(every)
    if not costs:
        return "No token has a cost at a price that is recent enough to be ranked"
    ends = (costs[0], costs[-1])[: len(costs)]
    told = " to ".join(
        f"{wording.significant(row['all_in_output_usd_median'])} ({row['accelerator_name']})" for row in ends
    )
    return (
        f"A million output tokens of {point.model} costs {told} USD on demand, cheapest seen of "
        f"{wording.count(len(costs), 'chip')}"
    )


def _compared(points: Mapping[Point, list[Row]]) -> str:
    """Return at which point the headline compares, and between what dates it was measured and priced."""
    if not points:
        return ""
    point, every = next(iter(points.items()))
    seen = [row["last_observed_at"] for row in cost_tables.ranked(every) or every]
    return f"<p>At {escape(point.words)}; prices of {wording.day(min(seen))} to {wording.day(max(seen))}.</p>\n"


def _chips(points: Mapping[Point, list[Row]], evidence: list[Row], sold: list[Row]) -> str:
    made = cost_tables.beside(points, evidence, sold)
    return section("chips", "Chip beside chip", [to_html(made) if made else "<p>No chip has a cost.</p>"])


def _frontier(charts: str) -> str:
    """Return the charts of cost against the speed that a user sees; empty without charts."""
    return section("frontier", "Cost against speed", [charts]) if charts else ""


def _model(name: str, rows: list[Row], counts: list[Row]) -> str:
    of_model = [row for row in rows if row["model_name"] == name]
    (counted,) = [row for row in counts if row["model_name"] == name]
    shown = len(cost_tables.by_point(of_model))
    left = counted["n_points"] - counted["n_alone"] - shown
    told = []
    if left:
        told.append(f"{wording.count(left, 'older round or other point', 'older rounds and other points')} left out")
    if counted["n_alone"]:
        told.append(f"at {wording.count(counted['n_alone'], 'point')} one chip alone has a cost")
    more = f"<p>{'; '.join(told)}: " if told else "<p>Every row: "
    parts = [
        to_html(cost_tables.of_model(name, [row for row in of_model if row["task"] == task], task, words))
        for task, words in TASKS.items()
        if any(row["task"] == task for row in of_model)
    ]
    return section(
        f"m-{name}", name, [*parts, f"{more}<code>chipledger cost --model {name} --task serving --all</code>.</p>"]
    )


def _training(rows: list[Row]) -> str:
    made = (
        to_html(cost_tables.training(rows)) if rows else "<p>No training was measured on two chips that are sold.</p>"
    )
    return section("training", "Training", [made])


def _excluded(rows: list[Row]) -> str:
    made = to_html(cost_tables.excluded(rows)) if rows else "<p>Everything measured and sold has a cost.</p>"
    return section("excluded", "What has no cost, and why", [made])


def _method() -> str:
    return section(
        "method",
        "How it is computed",
        [
            "<ul><li>Cost: <code>price per chip-hour / share of paid hours that run \N{MULTIPLICATION SIGN} 10^6 / "
            "(3600 \N{MULTIPLICATION SIGN} output rate of a paid chip \N{MULTIPLICATION SIGN} utilisation)</code></li>"
            "<li>Low and high are over the price and the runs at the point; chips of a purchase that are left over are "
            "paid.</li><li>Of bound: the share of what physics allows the chip on this model; 100 % is the end.</li>"
            "<li>Grades: A official MLPerf or InferenceX, B a vendor's document or a preview, C others with their "
            "configuration. MLPerf publishes results of systems; rates and costs per chip are ours and not verified by "
            "MLCommons.</li></ul>",
            '<p><a href="methods.html">Methods</a> has each formula; <code>chipledger query "select * from '
            'int.token_cost"</code> has every row, at 30, 50, 70 and 100 % use.</p>',
        ],
    )
