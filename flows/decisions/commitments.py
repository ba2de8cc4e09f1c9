"""How much of a fleet to commit to: the newsvendor's sum for each line of it, at list and at contracted prices.

A cover of K machines is held over the horizon, by what is owned first and then by the cheapest terms, one after
another, each charged whole. With u(i) the share of hours in which more than i - 1 machines run, and OD the price of an
hour on demand, of the machine itself or of the market where that is less:

    cost(K) = terms of machines 1 to K + 24 x OD x sum over the machines beyond K of u(i) x days that nothing is owned

Prices are assumed not to move: no forecast of them beat that (`mart.price_backtest`). A line of the answer says what
the chip's deepest fall, or the setting `yearly_price_move`, would change. Where a list price is missing, no contracted
price replaces it, and the other way round.

Sources: Arrow, Harris, Marschak, "Optimal Inventory Policy", Econometrica 19(3), 1951; weights of low, likely and high:
Hurst, Brown, Swanson, "Swanson's 30-40-30 Rule", AAPG Bulletin 84(12), 2000.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb

from flows.config.settings import DecisionSettings, Profile, Spread
from flows.decisions import regions
from flows.shared.query import rows
from reports import wording
from warehouse.errors import SettingsError

LIST, CONTRACTED = "list", "contracted"
HORIZON_MONTHS = 36
COMMITTED = ("reserved", "savings_plan", "capacity_block")
DAYS_A_YEAR = 365
"""As AWS counts a year's term: 8760 hours."""
SWANSON = {"low": 0.3, "likely": 0.4, "high": 0.3}
"""What the 10 % quantile, the median and the 90 % quantile weigh in the mean of a skewed quantity."""
LARGEST_SIZE = 20_000
"""Machines of one line: beyond that, sizes are not enumerated."""

Demand = tuple[tuple[float, float], ...]
"""How many machines run in an hour: pairs of (share of hours, machines); shares sum to 1."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """One way to commit: hours of its term, USD per machine-hour, the fee spread over it, and the share paid first."""

    name: str
    hours: float
    hourly: float
    paid_first: float = 0.0
    offer_id: int | None = None

    @property
    def days(self) -> int:
        return math.ceil(self.hours / 24)

    @property
    def usd(self) -> float:
        return self.hourly * self.hours


SHARES = """
select offer_id, contracted_usd_per_hour / list_usd_per_hour as share from contracted_price
where contracted_usd_per_hour is not null and list_usd_per_hour > 0
"""
"""What the user pays as a share of the list price, by offer that a contract has."""
OPTIONS = """
select *, coalesce(
    upfront_price / (unit_price * commitment_term_hours + upfront_price),
    [1, 0.5][list_position(['All Upfront', 'Partial Upfront'], purchase_payment_model)], 0
)::DOUBLE as paid_first
from int.commitment_option
where offer_id = $offer or on_demand_offer_id = $offer or on_demand_offer_id in (
    select on_demand_offer_id from int.commitment_option where offer_id = $offer
)
order by commitment_term_hours, purchase_option, commitment_discount_type, purchase_payment_model, offer_id
"""
FALL = """
select min(c.change_ratio) filter (c.change_ratio < 0) as deepest_fall, count_if(c.change_ratio < 0) as n_falls,
    list({'on': c.observed_at::DATE, 'ratio': c.change_ratio} order by c.observed_at desc)[:3] as last_moves
from int.price_change as c
inner join core.offer as o on c.service_provider_name = o.service_provider_name
inner join core.offer_unit as u on o.offer_id = u.offer_id and c.accelerator_name = u.accelerator_name
where o.offer_id = $offer and c.change_kind = 'list_change' and c.purchase_option = 'on_demand'
"""
MARKET = """
select
    quantile_cont(price, 0.25) as usd_per_chip_hour, count(*) as n_providers, min(seen) as oldest_observed_at,
    median(price) as median_usd, min(price) as lowest_usd, arg_min(service_provider_name, price) as lowest_provider,
    string_agg(service_provider_name || ' ' || round(price, 2), ', ' order by price) as prices,
    (
        select price_per_accelerator_hour_usd from int.accelerator_hour_price
        where offer_id = $offer and purchase_option = 'on_demand'
    ) as list_usd
from (
    select p.service_provider_name, min(p.cheapest_price_usd) as price, max(p.last_observed_at) as seen
    from int.provider_price as p
    inner join core.offer_unit as u
        on p.accelerator_name = u.accelerator_name and (p.form_factor = u.form_factor or p.form_factor is null)
    where
        u.offer_id = $offer and p.purchase_option = 'on_demand' and p.price_rank is not null and not p.is_floor
        and (u.accelerator_count <= 1 or p.capacity_class in ('node', 'cluster', 'rack'))
        and ($providers = [] or list_contains($providers, p.service_provider_name))
    group by p.service_provider_name
)
having count(*) > 0
"""
"""The lower quartile of what providers ask for the chip on demand, each at its least ranked list price of machines as
large as a node, where the line's are."""


def answer(
    file: Path, private: duckdb.DuckDBPyConnection, decision: DecisionSettings, *, horizon_months: float | None = None
) -> dict[str, Any]:
    """Return for each line of the private tables the best cover and its range. Raises SettingsError without a fleet."""
    fleet, contracted = rows(private, "from fleet_line order by line_number"), dict(private.execute(SHARES).fetchall())
    if not fleet:
        hint = 'Write [private] with fleet = "fleet.csv": docs/fleet.md shows one'
        raise SettingsError("there is no fleet to cover", field="private.fleet", hint=hint)
    months = horizon_months or decision.horizon_months or HORIZON_MONTHS
    with regions.opened(file, decision.regions) as con:
        stated = regions.as_dict(con, decision.regions)
        (built,) = rows(con, "select built_at from meta.build")
        today = built["built_at"].date()
        lines = [
            covered(
                line,
                _of_offer(con, OPTIONS, line["offer_id"]) or _of_offer(con, OPTIONS, line.get("on_demand_offer_id")),
                _of_offer(con, FALL, line["offer_id"]),
                contracted,
                decision,
                today=today,
                days=round(months * DAYS_A_YEAR / 12),
                market=next(iter(_of_offer(con, MARKET, line["offer_id"], providers=list(decision.providers))), None),
            )
            for line in fleet
        ]
    return {
        "regions": stated,
        "inputs": {"horizon_months": months, "as_of": today, "pattern": decision.pattern},
        "formula": "terms held + on demand beyond them, at the machine's own price or the market's if that is less, "
        "over the horizon",
        "lines": lines,
    }


def covered(
    line: Mapping[str, Any],
    options: Sequence[Mapping[str, Any]],
    moves: Sequence[Mapping[str, Any]],
    contracted: Mapping[int, float],
    decision: DecisionSettings,
    *,
    today: date,
    days: int,
    market: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one line's answers, at list and at contracted prices, or the reason why it has none.

    `line` is a row of fleet_line, `options` rows of int.commitment_option for its machine, `moves` the row of
    FALL for its chip, `contracted` rows of SHARES, `market` the row of MARKET.
    """
    head = {name: line[name] for name in ("line_number", "label", "nodes", "share_of_use")} | {"negotiation": None}
    demands = _demands(line, decision)
    ranked = [each for each in options if each["is_ranked"] and each["on_demand_is_ranked"]]
    reason = _reason(line, options, demands, decision)
    if reason is None and not ranked:
        newest = max(min(each["last_observed_at"], each["on_demand_last_observed_at"]) for each in options)
        reason = (
            "no commitment of this machine has a price that is ranked, and a ranked one on demand: both were last "
            f"seen on {newest:%Y-%m-%d}"
        )
    first: Mapping[str, Any] = options[0] if options else {"accelerator_count": 0}
    running = math.fsum(share * runs for share, runs in demands["likely"]) if demands else 0.0
    chips = float(line["accelerators_per_node"] or first["accelerator_count"])
    if market:  # what to hold against an offer, USD a chip-hour on demand; and of the chips a percent a year
        head["negotiation"] = {name: market[name] for name in ("median_usd", "lowest_usd", "lowest_provider")} | {
            "list_usd": first.get("on_demand_price_usd") or market["list_usd"],
            "number_to_beat_usd": market["usd_per_chip_hour"],
            "percent_usd_a_year": market["usd_per_chip_hour"] * chips * running * 87.6 or None,
            "last_moves": moves[0]["last_moves"] if moves else [],
        }
    if reason or demands is None:
        return head | {"reason": reason, "answers": []}
    ends = line["commitment_ends_on"]
    owned_days = max(0, (ends - today).days + 1) if line["purchase_option"] in COMMITTED and ends else 0  # today too
    yearly, fall = decision.yearly_price_move or 0.0, moves[0]["deepest_fall"] if moves else None
    expected = (math.expm1(yearly * days / DAYS_A_YEAR) / (yearly * days / DAYS_A_YEAR)) if yearly else 1.0
    ratios = {"expected": expected} | ({} if fall is None else {"fallen": 1 + fall})
    answers: list[dict[str, Any]] = []
    for which in (LIST, CONTRACTED):
        priced = _priced(ranked, line, contracted if which == CONTRACTED else None)
        if isinstance(priced, str):
            answers.append({"prices": which, "reason": priced})
            continue
        on_demand, terms = priced
        outside = min(on_demand, market["usd_per_chip_hour"] * chips) if market else on_demand
        found = advise(
            on_demand=outside, terms=terms, demands=demands, owned=int(line["nodes"]) if owned_days else 0,
            owned_days=owned_days, days=days, ratios=ratios,
        )  # fmt: skip
        own = {"on_demand_usd_per_node_hour": on_demand, "uncovered_usd_per_node_hour": outside}
        answers.append({"prices": which, "reason": None} | own | found)
    return head | {
        "reason": None,
        "owned": [{"nodes": int(line["nodes"]), "days_left": owned_days - 1}] if owned_days else [],
        "market": market,
        "price_history": dict(moves[0]) if moves else None,
        "yearly_move": yearly,
        "are_prices_current": all(each["is_current"] and each["on_demand_is_current"] for each in ranked),
        "answers": answers,
    }


def advise(
    *,
    on_demand: float,
    terms: Sequence[Term],
    demands: Mapping[str, Demand],
    owned: int,
    owned_days: int,
    days: int,
    ratios: Mapping[str, float],
) -> dict[str, Any]:
    """Return the best cover, its range over use and prices, and what each size costs where things come otherwise.

    `demands` has low, likely and high use; `ratios` what on demand costs over the horizon, of its price today.
    """
    n = math.ceil(max((runs for demand in demands.values() for share, runs in demand if share > 0), default=0.0))
    mixed = tuple((share * SWANSON[name], runs) for name, demand in demands.items() for share, runs in demand)
    free = [max(0, days - owned_days) if i < owned else days for i in range(n)]
    chains = {length: cheapest_terms(terms, length) for length in set(free)}
    usd = {length: sum(n * term.usd for term, n in chain.items()) for length, chain in chains.items()}
    held = _sums([usd[length] for length in free])

    def costs(demand: Demand, ratio: float) -> list[float]:
        each = [u * 24 * on_demand * ratio * length for u, length in zip(use_of_each(demand, n), free, strict=True)]
        return [one + other for one, other in zip(held, _sums(each[::-1])[::-1], strict=True)]

    expected = costs(mixed, ratios["expected"])
    best = _best(expected)
    cases = {(use, prices): costs(demands[use], ratios[prices]) for use in SWANSON for prices in ratios}
    regrets = {f"use_{use}": costs(demands[use], ratios["expected"]) for use in SWANSON}
    regrets |= {f"prices_{name}": costs(mixed, ratio) for name, ratio in ratios.items()}
    least = {name: min(of) for name, of in regrets.items()}
    unused = [None, *(1 - used / (k + 1) for k, used in enumerate(_sums(use_of_each(mixed, n))[1:]))]
    bought: Counter[tuple[int, Term]] = Counter()
    for length in free[:best]:
        bought.update({(days - length, term): count for term, count in chains[length].items()})
    return {
        "cover_nodes": best,
        "cover_nodes_low": min(map(_best, cases.values())),
        "cover_nodes_high": max(map(_best, cases.values())),
        "expected_usd": expected[best],
        "expected_usd_doing_nothing": expected[0],
        "expected_usd_full_cover": expected[-1],
        "unused_share_of_cover": unused[best],
        "purchases": [
            {
                "from_day": day,
                "terms": count,
                "commitment": term.name,
                "usd_per_node_hour_today": term.hourly,
                "upfront_usd_today": term.usd * term.paid_first * count,
                "offer_id": term.offer_id,
            }
            for (day, term), count in sorted(bought.items(), key=lambda item: (item[0][0], item[0][1].name))
        ],
        "best_in_each_case": [
            {"use": use, "prices": prices, "cover_nodes": _best(of)} for (use, prices), of in cases.items()
        ],
        "sizes": [
            {
                "cover_nodes": k,
                "expected_usd": expected[k],
                "committed_usd": held[k],
                "on_demand_usd": expected[k] - held[k],
                "unused_share_of_cover": unused[k],
            }
            | {f"regret_usd_if_{name}": of[k] - least[name] for name, of in regrets.items()}
            for k in range(n + 1)
        ],
    }


def cheapest_terms(terms: Sequence[Term], days: int) -> Counter[Term]:
    """Return the terms that hold one machine for so many days at the least cost, one after another, each whole."""
    least: list[tuple[float, Term | None]] = [(0.0, None)]
    for day in range(1, days + 1):
        least.append(
            min(((least[max(0, day - term.days)][0] + term.usd, term) for term in terms), key=lambda each: each[0])
        )
    found: Counter[Term] = Counter()
    while days > 0 and (term := least[days][1]) is not None:
        found[term] += 1
        days -= term.days
    return found


def use_of_each(demand: Demand, machines: int) -> list[float]:
    """Return u(1) ... u(machines): the share of hours in which each further machine of cover is used."""
    return [sum(share * min(max(runs - i, 0.0), 1.0) for share, runs in demand) for i in range(machines)]


def _best(costs: Sequence[float]) -> int:
    """Return the size that costs least; of equals the smallest, which commits to nothing needlessly."""
    return min(range(len(costs)), key=lambda k: (round(costs[k], 6), k))


def _sums(values: Sequence[float]) -> list[float]:
    """Return the sums of the first 0, 1, 2 ... of values, each as exact as `math.fsum`."""
    return [float(total) for total in accumulate(map(Fraction, values), initial=Fraction())]


def _of_offer(con: duckdb.DuckDBPyConnection, sql: str, offer: int | None, **others: object) -> list[dict[str, Any]]:
    return [] if offer is None else rows(con, sql, {"offer": offer, **others})


def _reason(
    line: Mapping[str, Any], options: Sequence[Mapping[str, Any]], demands: object, decision: DecisionSettings
) -> str | None:
    """Return why a line has no answer; None where it has one."""
    if line["offer_id"] is None:
        return line["reason"] or "no price is known for it"
    if decision.regions and line["region_id"] not in decision.regions:
        return f"{line['region_id'] or 'no stated region'} is none of the regions that [decision] allows"
    if line["purchase_option"] == "spot":
        return "it runs on spot: a commitment is weighed against on demand only"
    if not options:
        return "no commitment is known for this machine in this region that has an on-demand price too"
    if demands is None:
        return "its share of use is not known: give share_of_use in fleet.csv, or in [decision]"
    if float(line["nodes"]) > LARGEST_SIZE:
        return f"more than {LARGEST_SIZE} nodes in one line"
    return None


def _demands(line: Mapping[str, Any], decision: DecisionSettings) -> dict[str, Demand] | None:
    """Return low, likely and high use of a line: its own by label, else of fleet.csv, else of the settings."""
    use: Spread | Profile | float | None = decision.use.get(line["label"] or "")
    if use is None:
        use = decision.share_of_use if line["share_of_use"] is None else float(line["share_of_use"])
    if use is None:
        return None
    if isinstance(use, Profile):
        return dict.fromkeys(SWANSON, tuple(zip(use.hours, use.nodes, strict=True)))
    shares = use.model_dump() if isinstance(use, Spread) else dict.fromkeys(SWANSON, use)
    return demands_of(shares, float(line["nodes"]), decision.pattern)


def demands_of(shares: Mapping[str, float], nodes: float, pattern: str) -> dict[str, Demand]:
    """Return how many of some nodes run in an hour, for each share of use: all or none of them, or the same always."""
    if pattern == "together":
        return {name: ((share, nodes), (1 - share, 0.0)) for name, share in shares.items()}
    return {name: ((1.0, nodes * share),) for name, share in shares.items()}


def _priced(
    options: Sequence[Mapping[str, Any]], line: Mapping[str, Any], contracted: Mapping[int, float] | None
) -> tuple[float, list[Term]] | str:
    """Return USD per node-hour on demand and of each commitment, or why there are none; contracted alone if given."""
    chips = float(line["accelerators_per_node"] or options[0]["accelerator_count"])
    first = options[0]
    offers = first["on_demand_offer_id"], *(each["offer_id"] for each in options)
    shares = dict.fromkeys(offers, 1.0) if contracted is None else contracted
    if first["on_demand_offer_id"] not in shares:
        return "no contracted on-demand price of this machine"
    terms = [
        Term(
            name=_words(each),
            hours=each["commitment_term_hours"],
            offer_id=each["offer_id"],
            hourly=each["price_per_accelerator_hour_usd"] * chips * share,
            paid_first=each["paid_first"],
        )
        for each in options
        if (share := shares.get(each["offer_id"])) is not None
    ]
    if not terms:
        return "no contracted price of a commitment for this machine"
    return first["on_demand_price_usd"] * chips * shares[first["on_demand_offer_id"]], terms


def _words(each: Mapping[str, Any]) -> str:
    kind = {"reserved": "Reserved", "savings_plan": "Savings Plan"}[each["purchase_option"]]
    name = " ".join(filter(None, (each["commitment_discount_type"], kind, each["offering_class"])))
    return wording.listed(name, wording.term(each["commitment_term_hours"]), each["purchase_payment_model"])
