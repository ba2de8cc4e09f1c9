"""How much of a fleet to commit to: its lines, the commitments on offer and the history of prices, put together.

The sums are those of `transform.cover`. List and contracted prices are two answers: an amount of the one never stands
in for one of the other that is missing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from flows.config.settings import DecisionSettings, Profile, Spread
from flows.decisions import regions
from flows.shared.query import rows
from transform import cover
from transform.cover import Demand, Market, Owned, Term
from warehouse.errors import ChipledgerError

LIST, CONTRACTED = "list", "contracted"
HORIZON_MONTHS = 36
COMMITTED = ("reserved", "savings_plan", "capacity_block")
BY_USE = ("low", "likely", "high")
LARGEST_SIZE = 2000
"""Machines of one line: beyond that, sizes are not enumerated."""

OPTIONS = """
select * from int.commitment_option
where offer_id = $offer or on_demand_offer_id = $offer or on_demand_offer_id in (
    select on_demand_offer_id from int.commitment_option where offer_id = $offer
)
order by commitment_term_hours, purchase_option, commitment_discount_type, purchase_payment_model, offer_id
"""
MOVES = """
select m.* from int.list_price_move as m
inner join core.offer as o on m.service_provider_name = o.service_provider_name
inner join core.offer_unit as u on o.offer_id = u.offer_id and m.accelerator_name = u.accelerator_name
where o.offer_id = $offer
"""
MARKET = """
select
    quantile_cont(price, 0.25) as usd_per_chip_hour, count(*) as n_providers, min(seen) as oldest_observed_at,
    string_agg(service_provider_name || ' ' || round(price, 2), ', ' order by price) as prices
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
"""
"""The lower quartile of what providers ask for the chip on demand, each at its least ranked list price of machines as
large as a node, where the line's are."""


def answer(
    file: Path, private: Path | None, decision: DecisionSettings, *, horizon_months: float | None = None
) -> dict[str, Any]:
    """Return for each line of the fleet the best cover and its range. Raises ChipledgerError without a fleet."""
    if private is None or not private.exists():
        hint = "Name a fleet.csv in [private] and run `chipledger build`: docs/deciding.md"
        raise ChipledgerError("there is no fleet to cover", field="private.fleet", value="", hint=hint)
    with duckdb.connect(str(private), read_only=True) as con:
        fleet = rows(con, "from fleet_line order by line_number")
        contracted = {
            row["offer_id"]: row for row in rows(con, "from contracted_price where contracted_usd_per_hour is not null")
        }
    months = horizon_months or decision.horizon_months or HORIZON_MONTHS
    with regions.opened(file, decision.regions) as con:
        stated = regions.as_dict(con, decision.regions)
        (built,) = rows(con, "select built_at from meta.build")
        today = built["built_at"].date()
        lines = [
            covered(
                line,
                _of_offer(con, OPTIONS, line["offer_id"]) or _of_offer(con, OPTIONS, line.get("on_demand_offer_id")),
                _of_offer(con, MOVES, line["offer_id"]),
                contracted,
                decision,
                today=today,
                days=cover.horizon_days(months),
                market=_market(con, line["offer_id"], decision),
            )
            for line in fleet
        ]
    return {
        "regions": stated,
        "inputs": {"horizon_months": months, "as_of": today, "pattern": decision.pattern},
        "formula": "commitments + on demand beyond them, at the machine's own price or the market's if that is less, "
        "over the horizon, at the expected use and level of prices",
        "lines": lines,
    }


def covered(
    line: Mapping[str, Any],
    options: Sequence[Mapping[str, Any]],
    moves: Sequence[Mapping[str, Any]],
    contracted: Mapping[int, Mapping[str, Any]],
    decision: DecisionSettings,
    *,
    today: date,
    days: int,
    market: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one line's answers, at list and at contracted prices, or the reason why it has none.

    `line` is a row of fleet_line, `options` rows of int.commitment_option for its machine, `moves` the row of
    int.list_price_move for its chip, `contracted` rows of contracted_price by offer, `market` the row of MARKET.
    """
    head = {name: line[name] for name in ("line_number", "label", "nodes", "share_of_use")}
    demands = _demands(line, decision)
    ranked = [each for each in options if each["is_ranked"] and each["on_demand_is_ranked"]]
    reason = _reason(line, options, demands, decision)
    if reason is None and not ranked:
        newest = max(min(each["last_observed_at"], each["on_demand_last_observed_at"]) for each in options)
        reason = (
            "no commitment of this machine has a price that is ranked, and a ranked one on demand: both were last "
            f"seen on {newest:%Y-%m-%d}"
        )
    if reason or demands is None:
        return head | {"reason": reason, "answers": []}
    options = ranked
    move = dict(moves[0]) if moves else None
    yearly, basis = _drift(move, decision)
    owned = _owned(line, today)
    falls = [move[name] for name in ("deepest_fall", "provider_deepest_fall")] if move else []
    fall = next((each for each in falls if each is not None), None)
    answers: list[dict[str, Any]] = []
    for which in (LIST, CONTRACTED):
        priced = _priced(options, line, contracted if which == CONTRACTED else None)
        if isinstance(priced, str):
            answers.append({"prices": which, "reason": priced})
            continue
        on_demand, terms = priced
        chips = float(line["accelerators_per_node"] or options[0]["accelerator_count"])
        outside = min(on_demand, market["usd_per_chip_hour"] * chips) if market else on_demand
        found = advise(
            on_demand=outside, terms=terms, demands=demands, owned=owned, days=days, yearly=yearly, fall=fall
        )
        own = {"on_demand_usd_per_node_hour": on_demand, "uncovered_usd_per_node_hour": outside}
        answers.append({"prices": which, "reason": None} | own | found)
    return head | {
        "reason": None,
        "owned": [{"nodes": each.machines, "days_left": each.days} for each in owned],
        "market": market,
        "price_history": move,
        "yearly_move": yearly,
        "yearly_move_basis": basis,
        "are_prices_current": all(each["is_current"] and each["on_demand_is_current"] for each in options),
        "answers": answers,
    }


def advise(
    *,
    on_demand: float,
    terms: Sequence[Term],
    demands: Mapping[str, Demand],
    owned: Sequence[Owned],
    days: int,
    yearly: float,
    fall: float | None,
) -> dict[str, Any]:
    """Return the best cover, its range over use and prices, and what each size costs where things come otherwise.

    `demands` has low, likely and high use; `yearly` is the expected move of prices a year, `fall` the deepest seen.
    """
    levels = {"expected": cover.drifting(yearly, days), "unchanged": (1.0,) * days}
    if fall is not None:
        bought_on = max((each.days for each in owned), default=0)  # at the latest
        levels["fallen"] = cover.moved(fall, days, on=bought_on + 1)
    markets = {name: Market(on_demand=on_demand, terms=tuple(terms), levels=path) for name, path in levels.items()}
    expected = markets["expected"]
    use = cover.mixed([demands[name] for name in BY_USE], cover.SWANSON)
    n = max(cover.most(demand) for demand in demands.values())
    found = cover.sizes(expected, use, owned, at_least=n)
    best = cover.best(found)
    cases = {
        (by_use, by_price): cover.best(cover.sizes(market, demands[by_use], owned, at_least=n)).machines
        for by_use in BY_USE
        for by_price, market in markets.items()
    }
    by_use = cover.regrets(found, expected, {name: demands[name] for name in BY_USE}, owned)
    by_price = {name: cover.regrets(found, market, {name: use}, owned)[name] for name, market in markets.items()}
    return {
        "cover_nodes": best.machines,
        "cover_nodes_low": min(cases.values()),
        "cover_nodes_high": max(cases.values()),
        "expected_usd": best.cost,
        "expected_usd_doing_nothing": found[0].cost,
        "expected_usd_full_cover": found[-1].cost,
        "unused_share_of_cover": cover.unused_share(best, use),
        "purchases": [
            {
                "from_day": each.day,
                "nodes": each.machines,
                "commitment": each.term.name,
                "usd_per_node_hour_today": each.term.hourly,
                "upfront_usd_today": each.term.upfront * each.machines,
                "offer_id": each.term.offer_id,
            }
            for each in best.purchases
        ],
        "best_in_each_case": [
            {"use": case[0], "prices": case[1], "cover_nodes": nodes} for case, nodes in cases.items()
        ],
        "sizes": [
            {
                "cover_nodes": size.machines,
                "expected_usd": size.cost,
                "committed_usd": size.committed,
                "on_demand_usd": size.on_demand,
                "unused_share_of_cover": cover.unused_share(size, use),
            }
            | {f"regret_usd_if_use_{name}": by_use[name][i] for name in BY_USE}
            | {f"regret_usd_if_prices_{name}": regret[i] for name, regret in by_price.items()}
            for i, size in enumerate(found)
        ],
    }


def _market(con: duckdb.DuckDBPyConnection, offer: int | None, decision: DecisionSettings) -> Mapping[str, Any] | None:
    """Return the row of MARKET for a line's chip; None where no provider asks a ranked price."""
    if offer is None:
        return None
    (found,) = rows(con, MARKET, {"offer": offer, "providers": list(decision.providers)})
    return found if found["n_providers"] else None


def _of_offer(con: duckdb.DuckDBPyConnection, sql: str, offer: int | None) -> list[dict[str, Any]]:
    return [] if offer is None else rows(con, sql, {"offer": offer})


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
        return dict.fromkeys(BY_USE, tuple(zip(use.hours, use.nodes, strict=True)))
    shape = cover.together if decision.pattern == "together" else cover.level
    shares = use.model_dump() if isinstance(use, Spread) else dict.fromkeys(BY_USE, use)
    return {name: shape(float(line["nodes"]), shares[name]) for name in BY_USE}


def _owned(line: Mapping[str, Any], today: date) -> tuple[Owned, ...]:
    ends = line["commitment_ends_on"]
    if line["purchase_option"] not in COMMITTED or ends is None or ends <= today:
        return ()
    return (Owned(int(line["nodes"]), (ends - today).days),)


def _drift(move: Mapping[str, Any] | None, decision: DecisionSettings) -> tuple[float, str]:
    """Return the expected move of prices a year, and where it comes from. Rises are not carried forward."""
    if decision.yearly_price_move is not None:
        return decision.yearly_price_move, "yearly_price_move of [decision]"
    if move is None or move["yearly_drift"] is None:
        return 0.0, "none: the chip's list price has not been seen for a year"
    seen = f"{move['n_moves']} moves on {move['n_move_days']} days in {move['offer_years']:.1f} offer-years"
    if move["yearly_drift"] > 0:
        return 0.0, f"none: it rose by {move['yearly_drift']:.0%} a year ({seen}), and rises are not carried forward"
    return move["yearly_drift"], seen


def _priced(
    options: Sequence[Mapping[str, Any]], line: Mapping[str, Any], contracted: Mapping[int, Mapping[str, Any]] | None
) -> tuple[float, list[Term]] | str:
    """Return USD per node-hour on demand and of each commitment, or why there are none; contracted alone if given."""
    chips = float(line["accelerators_per_node"] or options[0]["accelerator_count"])
    first = options[0]
    shares = _shares(contracted, [first["on_demand_offer_id"], *(each["offer_id"] for each in options)])
    if first["on_demand_offer_id"] not in shares:
        return "no contracted on-demand price of this machine"
    terms = [
        Term(
            name=_words(each),
            days=each["commitment_term_hours"] // 24,
            offer_id=each["offer_id"],
            hourly=each["price_per_accelerator_hour_usd"] * chips * share,
            upfront=float(each["upfront_price"] or 0) / float(each["accelerator_count"]) * chips * share,
        )
        for each in options
        if (share := shares.get(each["offer_id"])) is not None
    ]
    if not terms:
        return "no contracted price of a commitment for this machine"
    return first["on_demand_price_usd"] * chips * shares[first["on_demand_offer_id"]], terms


def _shares(contracted: Mapping[int, Mapping[str, Any]] | None, offers: Iterable[int]) -> dict[int, float]:
    """Return for each offer what is paid as a share of its list price: 1 at list, nothing where no contract has it."""
    if contracted is None:
        return dict.fromkeys(offers, 1.0)
    return {
        offer: contracted[offer]["contracted_usd_per_hour"] / contracted[offer]["list_usd_per_hour"]
        for offer in offers
        if offer in contracted and contracted[offer]["list_usd_per_hour"]
    }


def _words(each: Mapping[str, Any]) -> str:
    kind = {"reserved": "Reserved", "savings_plan": "Savings Plan"}[each["purchase_option"]]
    name = " ".join(filter(None, (each["commitment_discount_type"], kind, each["offering_class"])))
    years = each["commitment_term_hours"] / 8760
    term = f"{years:g} years" if years >= 1 else f"{each['commitment_term_hours']} hours"
    return ", ".join(filter(None, (name, term, each["purchase_payment_model"])))
