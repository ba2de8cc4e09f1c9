"""Tables of what a token costs. Every number is a mart's; here they are chosen, rounded and put beside each other."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import polars as pl

from reports import wording
from reports.queries import Row
from reports.tables.provider_tables import TERMS
from reports.tables.sheet import Form, Sheet, sheet, small

MOST_POINTS = 8
"""Columns of the table of all chips; each is the operating point of a model at which most chips have a cost."""
MOST_CHIPS = 24
MOST_ROWS = 30
"""Of a table of one model; with every commitment of every provider there would be hundreds."""
LEFT_OUT = {"run": "measured runs", "price": "prices", "end of range": "ends of a range of costs"}
ONE_TOKEN = "one token a step"  # noqa: S105 (a way to decode)

NO_RUN = "no run"
OTHER_POINT = "other point"
NO_PRICE = "no price fits"
REASONS = (
    f"{NO_RUN}: no run of this model on this chip is known to us; {OTHER_POINT}: it was measured, at another operating "
    f"point or precision; {NO_PRICE}: it was measured at this point, and nobody is known to sell it on demand in that "
    "form and size, or too fast a speed is asked of it."
)


POINT = (
    "model_name",
    "task",
    "scenario",
    "benchmark",
    "precision",
    "input_length",
    "output_length",
    "decoding",
    "interactivity",
    "interactivity_statistic",
)
"""The columns that make an operating point; a run has all but the last two, which are of the speed asked of it."""


class Point(NamedTuple):
    """One operating point: what must be equal where costs are compared."""

    model: Any
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
        return cls(*(row.get(name) for name in POINT))

    @property
    def measured_as(self) -> tuple[Any, ...]:
        """Return what a run says of its point, which has no speed asked of it."""
        return tuple(self)[:8]

    @property
    def words(self) -> str:
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
        if costs and (point.model not in best or len(costs) > len(best[point.model][1])):
            best[point.model] = point, costs
    return dict(sorted(best.values(), key=lambda each: len(each[1]), reverse=True)[:MOST_POINTS])


def beside(points: Mapping[Point, Sequence[Row]], evidence: Sequence[Row], sold: Sequence[Row]) -> Sheet | None:
    """Return a row for each chip and a column for each model's chief point: cost on demand, or why there is none."""
    if not points:
        return None
    costs = [{row["accelerator_name"]: row for row in of_point} for of_point in points.values()]
    measured = {(Point.of(row).measured_as, row["accelerator_name"]) for row in evidence}
    modelled = {(row["model_name"], row["accelerator_name"]) for row in evidence}
    with_run = {row["accelerator_name"] for row in evidence}
    costed = {name for of_point in costs for name in of_point}
    names = [row["accelerator_name"] for row in sold]
    chips = sorted(costed, key=lambda name: (-sum(name in each for each in costs), name))
    chips += [name for name in names if name not in costed][: max(MOST_CHIPS - len(chips), 0)]

    def cell(chip: str, point: Point, found: dict[str, Row]) -> str:
        if chip in found:
            row = found[chip]
            text = _at_most(row, wording.significant(row["all_in_output_usd_median"]))
            return _greyed(row, text) + small(row["form_factor"])
        if (point.measured_as, chip) in measured:
            return wording.UNKNOWN + small(NO_PRICE)
        return wording.UNKNOWN + small(OTHER_POINT if (point.model, chip) in modelled else NO_RUN)

    columns = [f"p{i}" for i in range(len(points))]
    frame = pl.DataFrame(
        {"chip": chips}
        | {
            name: [cell(chip, point, found) for chip in chips]
            for name, point, found in zip(columns, points, costs, strict=True)
        }
    )
    heads = {
        name: f"{escape(point.model or wording.UNKNOWN)}<small>{escape(point.words)}</small>"
        for name, point in zip(columns, points, strict=True)
    }
    left = [name for name in names if name not in chips]
    without = sum(name not in with_run for name in left)
    more = f" {wording.count(len(left), 'more chip')} sold on demand left out, {without:,} of them without any run."
    last = wording.day(max((row["last_observed_at"] for row in sold if row["last_observed_at"]), default=None))
    return sheet(
        frame,
        Form(heads={"chip": "Chip", **heads}, stub="chip", right=columns, marked=columns),
        id="beside",
        title=f"{len(costed):,} of {wording.count(len({*names, *costed}), 'chip')} sold on demand have a cost",
        subtitle=(
            "USD per million output tokens, cheapest seen on demand, full load; each column is one operating point of "
            f"one model. Prices up to {last}; grey and in italics what is never ranked: "
            "a price beyond the limit of age, and a cost that is known as 'at most' alone."
        ),
        note=REASONS + (more if left else ""),
    )


def of_model(name: str, every: Sequence[Row], task: str, words: str) -> Sheet:
    """Return the costs of a model, grouped by operating point, each way to buy in rows of its own."""
    rows = every[:MOST_ROWS]
    frame = pl.DataFrame(
        {
            "point": [Point.of(row).words for row in rows],
            "chip": [_chip(row) for row in rows],
            "option": [_option(row) for row in rows],
            "low": [wording.significant(row["all_in_output_usd_low"]) for row in rows],
            "median": [
                _greyed(row, _at_most(row, wording.significant(row["all_in_output_usd_median"]))) for row in rows
            ],
            "high": [wording.significant(row["all_in_output_usd_high"]) for row in rows],
            "bound": [_share(row["share_of_bound"]) for row in rows],
            "grade": [_grade(row) for row in rows],
            "price": [_price(row) for row in rows],
            "sold": [_sold(row) for row in rows],
        }
    )
    n_points = frame["point"].n_unique()
    return sheet(
        frame,
        Form(
            heads={
                "chip": "Chip",
                "option": "Bought",
                "low": "Low",
                "median": "Median",
                "high": "High",
                "bound": "Of bound",
                "grade": "Grade,<br>measured",
                "price": "USD per<br>chip-hour",
                "sold": "Sold by",
            },
            stub="chip",
            group="point",
            right=("low", "median", "high", "bound", "price"),
            marked=("median", "grade", "price", "sold"),
            picks=("option",),
        ),
        id=f"t-{_anchor(name)}-{task}",
        title=f"{name}, {words}: {_finding(rows)}",
        subtitle=(
            f"USD per million output tokens at full load, at {wording.count(n_points, 'operating point')}; of each "
            "chip and way to buy the cheapest seen. Rows of one point and one way to buy compare."
        ),
        note=_dashes(frame, low="no cheaper price or faster run than the median is known", bound="no bound is known")
        + "Spot as if never interrupted, commitments as if used in every hour."
        + (f" {wording.count(len(every) - len(rows), 'more row')} left out." if len(every) > len(rows) else ""),
    )


def training(rows: Sequence[Row]) -> Sheet:
    """Return what training costs, grouped by model and round; rows of one number of chips compare best."""
    frame = pl.DataFrame(
        {
            "point": [", ".join(filter(None, (row["model_name"], row["benchmark"], row["precision"]))) for row in rows],
            "chip": [_chip(row) for row in rows],
            "count": [f"{row['accelerator_count']:,.0f}" for row in rows],
            "option": [_option(row) for row in rows],
            "low": [wording.significant(row["usd_per_million_tokens_low"]) for row in rows],
            "median": [_greyed(row, wording.significant(row["usd_per_million_tokens_median"])) for row in rows],
            "high": [wording.significant(row["usd_per_million_tokens_high"]) for row in rows],
            "bound": [_share(row["share_of_bound"]) for row in rows],
            "grade": [_grade(row) for row in rows],
            "price": [_price(row) + small(row["service_provider_name"]) for row in rows],
        }
    )
    return sheet(
        frame,
        Form(
            heads={
                "chip": "Chip",
                "count": "Chips",
                "option": "Bought",
                "low": "Low",
                "median": "Median",
                "high": "High",
                "bound": "Of bound",
                "grade": "Grade,<br>measured",
                "price": "USD per<br>chip-hour",
            },
            stub="chip",
            group="point",
            right=("count", "low", "median", "high", "bound", "price"),
            marked=("median", "grade", "price"),
            picks=("option",),
        ),
        id="t-training",
        title=f"Training at {wording.count(frame['point'].n_unique(), 'operating point')}",
        subtitle="USD to train on a million tokens; the newest round of each benchmark, cheapest seen of each chip.",
        note=_dashes(frame, bound="no bound is known for this way to train"),
    )


def excluded(rows: Sequence[Row]) -> Sheet:
    """Return what has no cost, by reason."""
    counts = {kind: sum(row["n_left_out"] for row in rows if row["left_out_kind"] == kind) for kind in LEFT_OUT}
    frame = pl.DataFrame(
        {
            "kind": [str(LEFT_OUT.get(row["left_out_kind"]) or row["left_out_kind"]).capitalize() for row in rows],
            "reason": [f'<span class="long">{escape(row["reason"])}</span>' for row in rows],
            "n": [f"{row['n_left_out']:,}" for row in rows],
        }
    )
    return sheet(
        frame,
        Form(heads={"reason": "Why", "n": "Left out"}, stub="reason", group="kind", right=("n",), marked=("reason",)),
        id="left-out",
        title=" and ".join(f"{n:,} {LEFT_OUT[kind]}" for kind, n in counts.items() if n) + " without a cost",
        subtitle="Each counted once, by the first reason. Nothing near them is shown instead.",
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
    return text if plain or text == wording.UNKNOWN else f'<span class="past">{text}</span>'


def _at_most(row: Row, text: str) -> str:
    return f"at most {text}" if row["reach"] == "at most" else text


def _share(share: float | None) -> str:
    return wording.UNKNOWN if share is None else f"{share * 100:,.0f} %"


def _grade(row: Row) -> str:
    measured = f"{row['measured_on']:%Y-%m-%d}" if row["measured_on"] else "undated"
    url = str(row["source_url"] or "")
    if url.startswith(("https://", "http://")):
        measured = f'<a href="{escape(url)}" rel="noreferrer">{measured}</a>'
    return f"{escape(row['evidence_grade'] or wording.UNKNOWN)} {measured}"


def _price(row: Row) -> str:
    price = wording.amount(row["median_price_usd"], wording.places_of([row["median_price_usd"]]))
    return _greyed(row, price) + small(wording.day(row["last_observed_at"]))


def _sold(row: Row) -> str:
    return escape(row["service_provider_name"] or wording.UNKNOWN) + small(
        ", ".join(filter(None, (row["instance_type"], row["region_id"])))
    )


def _anchor(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _dashes(frame: pl.DataFrame, **reasons: str) -> str:
    """Return why a column has dashes, for those that have any."""
    said = [
        f"{wording.UNKNOWN} under {column}: {reason}. "
        for column, reason in reasons.items()
        if wording.UNKNOWN in set(frame[column])
    ]
    return "".join(said)
