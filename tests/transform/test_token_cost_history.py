"""What a token cost by day, computed again in plain Python from prices and runs, and how its steps are split."""

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest
from cost_file import lines, neocloud, run, values
from looks import day
from purchase import putting, seen

from warehouse.log import db
from warehouse.reference import throughput
from warehouse.schema.vocabulary import MARKETPLACES

ASKED = ("token_cost_history", "token_option")
POINTS = (
    ("deepseek-r1", "1k/1k", "fp8", "one token a step", 50.0),
    ("deepseek-r1", "8k/1k", "fp4", "speculative", 75.0),
    ("llama-2-70b", "Server", "fp8", "one token a step", 5.0),
)
"""Model, scenario, precision, decoding and speed of the series that are computed again."""
LIMIT_DAYS, MARKETPLACE_DAYS = 90, 30
CLUSTERS = {"p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "trn1", "trn1n", "trn2"}


class Price(NamedTuple):
    """One price of one offer, from a day to a day that it no longer is, and the unit that it is of."""

    chip: str
    unit: float
    network: str | None
    usd: float
    since: date
    until: date


class State(NamedTuple):
    """What was best on one chip on one day."""

    usd: float
    price: float
    unit: tuple[float, str | None]


@pytest.fixture(scope="module")
def file(shared_history: Path) -> Path:
    """Return the file of the shared history of AWS and of others, imported."""
    return shared_history / "prices.duckdb"


def prices(file: Path, option: str) -> list[Price]:
    """Return the prices of an option that may be ranked on some day."""
    markets = {
        name for (name,) in values(file, "select service_provider_name from core.offer") if name.lower() in MARKETPLACES
    }
    found = []
    for row in lines(
        file,
        "select o.*, u.accelerator_name as chip, u.form_factor, u.accelerator_count::double as chips, "
        "u.capacity_class, h.effective_hourly_price as hourly, h.valid_from, h.valid_to, h.last_observed_at as seen_at "
        "from int.price_history as h join core.offer as o using (offer_id) join core.offer_unit as u using (offer_id) "
        f"where h.effective_hourly_price > 0 and o.purchase_option = '{option}'",
    ):
        if (row["pricing_currency"], row["unit_price_type"], row["restriction"], row["statistic"]) != (
            "USD", "List", None, "price",
        ):  # fmt: skip
            continue
        family = (row["instance_type"] or "").partition(".")[0]
        apart = row["service_provider_name"] == "AWS" and (row["region_id"] or "").startswith(
            ("cn-", "us-gov", "us-iso")
        )
        if family == "ml" or apart or row["chips"] is None:
            continue
        unit = row["chips"] * float(row["minimum_quantity"] or 1)
        network = row["capacity_class"] if row["capacity_class"] in ("rack", "cluster") else None
        if network is None and row["service_provider_name"] == "AWS" and unit >= 8 and family in CLUSTERS:
            network = "cluster"
        limit = MARKETPLACE_DAYS if row["service_provider_name"] in markets else LIMIT_DAYS
        until = (row["seen_at"] + timedelta(days=limit)).date()
        if row["valid_to"]:
            until = min(until, row["valid_to"].date())
        name = f"{row['chip']} {row['form_factor'] or ''}".strip()
        found.append(Price(name, unit, network, row["hourly"] / row["chips"], row["valid_from"].date(), until))
    return found


def runs(file: Path, point: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the runs of a point's curve that may be ranked, with the chip as it is named in prices."""
    model, scenario, precision, decoding, speed = point
    return [
        row for row in lines(
            file,
            "select * from int.throughput where is_ranked and evidence_grade in ('A', 'B') and "
            "(benchmark_family = 'inferencex' or evidence_grade = 'A') and measured_on is not null and "
            "has_chip_facts and task = 'serving' and benchmark_family in "
            f"('inferencex', 'mlperf_inference') and model_name = '{model}' and scenario = '{scenario}' and "
            f"precision = '{precision}' and decoding = '{decoding}' and output_rate_per_accelerator is not null",
        )
        if row["interactivity_statistic"] == "median" or row["interactivity"] == pytest.approx(speed)
    ]  # fmt: skip


def sold_as(name: str, run: dict[str, Any], forms: dict[str, set[str | None]]) -> bool:
    """Return whether a price of a chip by name is of what a run was on; forms are those with figures of their own."""
    chip, _, form = name.partition(" ")
    return (
        chip == run["accelerator_name"]
        and (form or None if None not in forms[chip] else None) == run["chip_form_factor"]
    )


def rate_known(known: list[dict[str, Any]], unit: float, network: str | None, speed: float) -> float | None:
    """Return the rate of a paid chip at a speed by runs; None where nothing was measured on both sides of it."""
    points = []
    for each in known:
        n = float(each["accelerator_count"])
        if not (n <= unit or network == "rack" or (network == "cluster" and each["form_factor"] != "NVL72")):
            continue
        share = math.floor(unit / n) * n / unit if n <= unit else n / (math.ceil(n / unit) * unit)
        points.append((each["interactivity"], each["output_rate_per_accelerator"] * share, each["benchmark"]))
    if not points:
        return None
    if known[0]["interactivity_statistic"] == "p99 limit":
        rounds = {benchmark for _, _, benchmark in points}
        return max(median(rate for _, rate, of in points if of == each) for each in rounds)
    front = sorted({
        (s, r) for s, r, _ in points
        if not any((t, q) != (s, r) and t >= s and q >= r for t, q, _ in points)
    })  # fmt: skip
    above = [each for each in front if each[0] >= speed]
    below = [each for each in front if each[0] < speed]
    if not above or min(s for s, _, _ in points) > speed:
        return None
    if not below or above[0][0] == speed:
        return above[0][1]
    (x0, y0), (x1, y1) = below[-1], above[0]
    return y0 + (y1 - y0) * (speed - x0) / (x1 - x0)


class Oracle:
    """The same history by brute force: each day anew from all prices and runs."""

    def __init__(self, file: Path, point: Sequence[Any], option: str) -> None:
        self.speed = point[-1]
        self.runs = runs(file, point)
        self.forms: dict[str, set[str | None]] = {}
        for chip, form in values(file, "select accelerator_name, form_factor from ref.accelerator"):
            self.forms.setdefault(chip, set()).add(form)
        chips = {each["accelerator_name"] for each in self.runs}
        self.prices = [each for each in prices(file, option) if each.chip.partition(" ")[0] in chips]
        self.measured_on = sorted(each["measured_on"] for each in self.runs)
        self.cached: dict[Any, float | None] = {}

    def rate(self, name: str, unit: float, network: str | None, on: date) -> float | None:
        n_measured = bisect(self.measured_on, on)  # on days with the same runs the rate is the same
        key = name, unit, network, n_measured
        if key not in self.cached:
            known = [each for each in self.runs if each["measured_on"] <= on and sold_as(name, each, self.forms)]
            self.cached[key] = rate_known(known, unit, network, self.speed) if unit >= 1 else None
        return self.cached[key]

    def states(self, on: date) -> dict[str, tuple[State, str]]:
        """Return, of each chip with a cost on a day, what was best, and the name of the chip in prices."""
        found: dict[str, tuple[State, str]] = {}
        for each in self.prices:
            if not each.since <= on < each.until:
                continue
            chip = each.chip.partition(" ")[0]
            rate = self.rate(each.chip, each.unit, each.network, on)
            if rate is None:
                continue
            state = State(each.usd * 1e6 / 3600 / rate, each.usd, (each.unit, each.network))
            if chip not in found or state.usd < found[chip][0].usd:
                found[chip] = state, each.chip
        return found


def series(file: Path, point: Sequence[Any], option: str) -> dict[str, list[dict[str, Any]]]:
    model, scenario, precision, decoding, speed = point
    found: dict[str, list[dict[str, Any]]] = {}
    for row in lines(
        file,
        f"select * from int.token_cost_history where model_name = '{model}' and scenario = '{scenario}' and "
        f"precision = '{precision}' and decoding = '{decoding}' and interactivity = {speed} and "
        f"coalesce(evidence_grade, 'A') = 'A' and purchase_option = '{option}' order by valid_from",
    ):
        found.setdefault(row["accelerator_name"], []).append(row)
    return found


SHORT = (POINTS[0], "on_demand"), (POINTS[2], "spot")
"""Of runs at a speed, and of those within a limit: what `make test` computes again of the cost of every day."""


def named(point: Any) -> str:
    return point if isinstance(point, str) else f"{point[0]} {point[1]}"


@pytest.mark.parametrize(
    ("point", "option"),
    [
        pytest.param(point, option, marks=() if (point, option) in SHORT else pytest.mark.prove)
        for option in ("on_demand", "spot")
        for point in POINTS
    ],
    ids=named,
)
def test_every_day_is_what_brute_force_gives(file: Path, point: Sequence[Any], option: str) -> None:
    """Of each chip and of all of them the cost on each day is the least over all prices and runs of that day."""
    oracle = Oracle(file, point, option)
    found = series(file, point, option)
    (last,) = values(file, "select built_at::date from meta.build")[0]
    # Every third day, and all on which a row begins, and the day before.
    days = {date(2024, 8, 1) + timedelta(days=n) for n in range(0, (last - date(2024, 8, 1)).days + 1, 3)}
    for rows in found.values():
        days |= {row["valid_from"].date() - timedelta(days=n) for row in rows for n in (0, 1)}
    n_costs = 0
    for on in sorted(days):
        states = {chip: state.usd for chip, (state, _) in oracle.states(on).items()}
        if states:
            states["all chips"] = min(states.values())
        for name in {*found, *states}:
            row = [r for r in found.get(name, []) if r["valid_from"].date() <= on
                   and (r["valid_to"] is None or on < r["valid_to"].date())]  # fmt: skip
            usd = row[0]["usd_per_million_output_tokens"] if row else None
            assert (usd or 0) == pytest.approx(states.get(name, 0), rel=1e-12), (name, on)
            n_costs += usd is not None
    assert n_costs > 100


@pytest.mark.parametrize(
    "point", [POINTS[0], *(pytest.param(point, marks=pytest.mark.prove) for point in POINTS[1:])], ids=named
)
def test_each_part_of_a_step_is_what_brute_force_gives(file: Path, point: Sequence[Any]) -> None:
    """Runs at the prices of before, then prices, then chips that had no cost: each part computed again."""
    oracle = Oracle(file, point, "on_demand")
    n_steps = 0
    for name, rows in series(file, point, "on_demand").items():
        before = None
        for row in (row for row in rows if row["usd_per_million_output_tokens"] is not None):
            if before is None:
                assert (row["step_log"], row["price_effect"]) == (None, None)
            else:
                on = row["valid_from"].date()
                old, new = oracle.states(before["valid_from"].date()), oracle.states(on)
                if name != "all chips":
                    old, new = ({k: v for k, v in each.items() if k == name} for each in (old, new))
                at_old = min(
                    state.price * 1e6 / 3600 / oracle.rate(sold, *state.unit, on) for state, sold in old.values()
                )
                stayed = min((state.usd for chip, (state, _) in new.items() if chip in old), default=at_old)
                usd = min(state.usd for state, _ in new.values())
                was = before["usd_per_million_output_tokens"]
                expected = [math.log(at_old / was), math.log(stayed / at_old), math.log(usd / stayed)]
                parts = [row["evidence_effect"], row["price_effect"], row["new_chip_effect"]]
                assert parts == pytest.approx(expected, abs=1e-12), (name, on)
                n_steps += 1
            before = row
    assert n_steps > 10


def test_parts_add_up_to_the_step_and_steps_to_the_whole(file: Path) -> None:
    """In every series, to 1e-9: the parts to their step, and all steps to the log of the last by the first cost."""
    whole: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    key = ("model_name", "scenario", "benchmark_family", "precision", "input_length", "output_length", "decoding",
           "evidence_grade", "interactivity", "interactivity_statistic",
           "accelerator_name", "purchase_option", "commitment_class")  # fmt: skip
    for row in lines(file, "from int.token_cost_history order by valid_from"):
        whole.setdefault(tuple(row[name] for name in key), []).append(row)
    moved = 0
    for rows in whole.values():
        costs = [row["usd_per_million_output_tokens"] for row in rows if row["usd_per_million_output_tokens"]]
        parts = [
            [row[f"{name}_effect"] for name in ("price", "evidence", "new_chip")]
            for row in rows if row["step_log"] is not None
        ]  # fmt: skip
        taken = [row["step_log"] for row in rows if row["step_log"] is not None]
        assert len(taken) == max(len(costs) - 1, 0)
        assert [sum(each) for each in parts] == pytest.approx(taken, abs=1e-9)
        if costs:
            assert sum(taken) == pytest.approx(math.log(costs[-1] / costs[0]), abs=1e-9)
        for row, after in pairwise(rows):
            assert row["valid_to"] == after["valid_from"]
            assert row["usd_per_million_output_tokens"] != after["usd_per_million_output_tokens"]
        assert rows[-1]["valid_to"] is None
        moved += sum(any(part) for part in parts)
    assert moved > 100


def test_the_last_cost_is_the_one_of_now(file: Path) -> None:
    """Where a price in US dollars is ranked now and its runs are dated, the history ends there, or below."""
    wrong = values(
        file,
        "with undated as (select distinct model_name, scenario, accelerator_name from int.throughput "
        "where is_ranked and measured_on is null), "
        "now as (select model_name, scenario, precision, decoding, interactivity, interactivity_statistic, "
        "accelerator_name, evidence_grade, purchase_option, commitment_class, "
        "min(usd_per_million_output_tokens) as usd from int.token_option where is_cost_ranked "
        "and benchmark_family in ('inferencex', 'mlperf_inference') and "
        "task = 'serving' and purchase_option = 'on_demand' group by all) "
        "select n.*, h.usd_per_million_output_tokens from now as n anti join undated as u using "
        "(model_name, scenario, accelerator_name) left join int.token_cost_history as h "
        "on n.model_name = h.model_name and n.scenario = h.scenario and n.precision = h.precision and "
        "n.decoding is not distinct from h.decoding and n.interactivity = h.interactivity and "
        "n.interactivity_statistic = h.interactivity_statistic and n.accelerator_name = h.accelerator_name and "
        "(n.evidence_grade = h.evidence_grade or h.evidence_grade is null) and n.purchase_option = h.purchase_option "
        "and h.valid_to is null "
        "where h.usd_per_million_output_tokens is null or h.usd_per_million_output_tokens > n.usd * (1 + 1e-9)",
    )
    assert wrong == []


# A world in which each kind of step happens alone


def own(chip: str, rate: str, at: int) -> tuple[object, ...]:
    """Return a run on one chip at 50 tokens per second and user, of a benchmark whose history is kept."""
    return run(
        accelerator_name=chip, form_factor=None if chip == "MI300X" else "SXM", output_rate=Decimal(rate),
        interactivity=Decimal(50), interactivity_statistic="median", benchmark="InferenceX",
        benchmark_family="inferencex", scenario="own", measured_on=day(at).date(), concurrency=None,
        acceptance_length=Decimal(1), ttft_ms=None, input_length=None,
        evidence_grade="A",
    )  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a file: H100 at 4, then 3, a faster run, MI300X cheaper, and 100 days in which nobody looks."""
    folder = tmp_path_factory.mktemp("steps")
    with db.writer(folder) as con:
        throughput.append(con, [own("H100", "100", 0), own("H100", "150", 20), own("MI300X", "200", 0)])
    with putting(folder, asked=ASKED) as put:
        yield put(
            seen(1, "aws_price_list", neocloud("H100 SXM", "4")),
            seen(10, "aws_price_list", neocloud("H100 SXM", "3")),
            seen(30, "aws_price_list", neocloud("H100 SXM", "3"), neocloud("MI300X", "2")),
            at=200,
        )


def test_each_kind_of_step_is_told_alone(small: Path) -> None:
    """A cut of 4 to 3 is price, 100 to 150 tokens is evidence, MI300X is a new chip; after 90 days nothing is known."""
    found = lines(
        small,
        "select *, valid_from::date - date '2026-01-01' as at from int.token_cost_history where scenario = 'own' and "
        "accelerator_name = 'all chips' and interactivity = 50 order by valid_from",
    )
    usd = [4e6 / 3600 / 100, 3e6 / 3600 / 100, 3e6 / 3600 / 150, 2e6 / 3600 / 200, None]
    assert [row["at"] for row in found] == [1, 10, 20, 30, 120]
    assert [row["usd_per_million_output_tokens"] for row in found] == pytest.approx(usd)
    assert [row["best_accelerator_name"] for row in found] == ["H100", "H100", "H100", "MI300X", None]
    assert [row["price_effect"] for row in found] == pytest.approx([None, math.log(3 / 4), 0, 0, None])
    assert [row["evidence_effect"] for row in found] == pytest.approx([None, 0, math.log(100 / 150), 0, None])
    assert [row["new_chip_effect"] for row in found] == pytest.approx([None, 0, 0, math.log(usd[3] / usd[2]), None])


def test_a_chip_of_its_own_has_no_new_chip(small: Path) -> None:
    """The series of the H100 does not see the MI300X, and no speed but that of the runs has one."""
    found = lines(small, "from int.token_cost_history where scenario = 'own' and accelerator_name = 'H100'")
    assert [row["interactivity"] for row in found] == [50] * 4
    assert {row["new_chip_effect"] for row in found if row["step_log"] is not None} == {0}
