"""Answers about the user's fleet: what it costs a month, what moves of prices do to it, which commitments end.

Everything is worked out when asked, in memory, from the user's files as they are and the published file.
"""

from datetime import UTC, datetime
from typing import Any

from flows.config.settings import Settings
from flows.doctor.row import Row, fail, ok, warn
from flows.private import private_file
from flows.shared.query import rows
from warehouse.errors import ChipledgerError

TOTALS = """
select
    count(*) as n_lines,
    sum(list_usd_per_month) as list_usd_per_month,
    count(list_usd_per_month) as n_with_list_price,
    count(*) filter (where not is_current) as n_not_current,
    sum(contracted_usd_per_month) as contracted_usd_per_month,
    count(contracted_usd_per_month) as n_with_contracted_price
from fleet_cost
"""
COST = """
select
    line_number, label, service_provider_name, offer, region_id, purchase_option, nodes, share_of_use,
    list_price_per_node_hour, contracted_price_per_node_hour, list_usd_per_month, contracted_usd_per_month,
    list_idle_usd_per_month, contracted_idle_usd_per_month, contract_id, rule, is_current, last_observed_at, reason
from fleet_cost order by line_number
"""
MOVES = """
select
    line_number, label, move_of, change_kind, last_observed_before_at, observed_at, paid_from, list_price_before,
    list_price_after, usd_per_month_before, usd_per_month_after, usd_per_month_change
from fleet_move where observed_at >= ? order by observed_at, line_number, move_of
"""
RENEWALS = "select * exclude (offer) from renewal order by commitment_ends_on, line_number"
UNMATCHED = """
select line_number, label, service_provider_name, offer, region_id, purchase_option, reason
from fleet_cost where reason is not null order by line_number
"""
IDLE_RULES = """
select
    r.rule, r.place, r.kind, r.valid_from, r.valid_to,
    case
        when b.prices_built_at::DATE < r.valid_from then 'it does not hold yet'
        when b.prices_built_at::DATE > r.valid_to then 'it does not hold any more'
        else 'it fits nothing, or another rule names more'
    end as reason
from price_rule as r cross join build as b
where r.rule not in (select c.rule from contracted_price as c)
    and r.rule not in (select c.rule from fleet_cost as c where c.rule is not null)
order by r.place
"""
OPEN_ENDS = """
select line_number, label, purchase_option from fleet_line
where commitment_ends_on is null and purchase_option not in ('on_demand', 'spot') order by line_number
"""


def cost(
    settings: Settings, *, since: datetime | None = None, renewals: bool = False, now: datetime | None = None
) -> dict[str, Any]:
    """Return what the fleet costs a month, line by line and in sum: list and contracted, apart.

    With `since` also the moves of list prices seen from then on, with `renewals` the commitments. A sum is of the lines
    that have a price: `n_with_list_price` and `n_with_contracted_price` of `n_lines`. Raises ChipledgerError.
    """
    with private_file.in_memory(settings, now or datetime.now(UTC)) as con:
        found: dict[str, Any] = {"build": rows(con, "from build")[0], "lines": rows(con, COST)}
        found["totals"] = rows(con, TOTALS)[0]
        if since is not None:
            found["moves"] = rows(con, MOVES, [since])
        if renewals:
            found["renewals"] = rows(con, RENEWALS)
    return found


def check(settings: Settings, *, now: datetime | None = None) -> dict[str, list[dict[str, Any]]]:
    """Return what is not matched and why: lines without a price, rules that count for nothing, ends not stated."""
    with private_file.in_memory(settings, now or datetime.now(UTC)) as con:
        return {
            "lines": rows(con, UNMATCHED),
            "rules": rows(con, IDLE_RULES),
            "commitments_without_end": rows(con, OPEN_ENDS),
        }


def doctor(settings: Settings) -> list[Row]:
    """Return what `chipledger doctor` says of the private files: a fault, or the lines without a price; [] if none."""
    if not settings.private.is_set or not (settings.data_dir / "prices.duckdb").exists():
        return []
    try:
        lines = check(settings)["lines"]
    except ChipledgerError as error:
        return [fail("private files", str(error), "See docs/fleet.md")]
    if not lines:
        return [ok("private files", "every line of the fleet has a price")]
    found = "; ".join(f"line {line['line_number']}: {line['reason']}" for line in lines)
    return [warn("private files", found, "`chipledger fleet check` says more")]
