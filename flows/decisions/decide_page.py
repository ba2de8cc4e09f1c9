"""The answer of `decide` for people: sections, of which `break_even_page` makes text, or a page that prints."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from flows.decisions import regions
from flows.decisions.break_even_page import Section, words_of
from flows.decisions.cost_added import Added
from flows.decisions.decide import BINDING, FEWEST_WINDOWS, how
from flows.shared.output import rounded
from flows.shared.query import columns
from reports import wording
from warehouse.reference.instance_types import chips_named
from warehouse.schema.vocabulary import HOURS_PER_MONTH

MAX_OPTIONS, MAX_MOVES, MAX_MONTHS = 18, 6, 12
"""Options, moves of prices, and months one by one that a table for people has; --json has all."""
NOT_COUNTED = wording.table("not_counted", __package__)
"""What no sum has, of what order it is, and who says so, read on which day."""
LADDER = "quarter, units, terms, committed_usd, on_demand_before_usd, on_demand_usd_per_chip_hour"
TEXT = words_of("text")
COLUMNS = words_of("column")
"""Columns of an answer, as people read them; others by their own names."""


def sections(found: Mapping[str, Any]) -> list[Section]:
    """Return the answer in sections, the conclusion first."""
    options, added = found["options"], {each["name"] for each in found["inputs"]["added"]}
    left_out = [{"left out": reason, "offers": n} for reason, n in sorted(found["left_out"].items())]
    parts = [Section("What to do", list(_conclusion(found)))]
    if options:
        shown = _shown(options)
        lines = [f"Formula: {found['formula']}. {TEXT['columns']} {len(options) - len(shown)} more in --json."]
        has_range = any(row["charged_usd_low"] < row["charged_usd_high"] for row in shown)
        what = "charged_usd, charged_usd_low, charged_usd_high" if has_range else "charged_usd"
        what += ", how, accelerator_name, unit_accelerators, units, price_usd, capital_usd, support_usd, owed_after_usd"
        what += ", added_usd, total_usd" if found["inputs"]["added"] else ""
        tokens = ", usd_per_million_tokens" if found["point"] else ""
        table = _table(shown, f"service_provider_name, {what}{tokens}")
        parts += [
            Section("Every way to buy it, the cheapest first, capital counted", lines, table),
            *_chips(found),
            _cash(found),
            _waiting(found),
            *_together(found),
            Section("What must be true", list(_conditions(found))),
            Section("When to decide again", [f"{each['when']}: {each['why']}." for each in found["decide_again"]]),
            *_negotiation(found),
        ]
    parts += [
        Section("Left out, and why", found["inputs"]["hosted_from"], left_out, folded=True),
        Section("What no sum has", list(_added(found)), [row for row in NOT_COUNTED if row["name"] not in added]),
    ]
    if options:
        what = (
            "service_provider_name, how, region_id, price_usd, last_observed_at, offer_id, document_sha256, source_url"
        )
        parts.append(Section("Prices, and where they were read", [], _table(shown, what), folded=True))
    return parts


def load_in_words(found: Mapping[str, Any]) -> str:
    """Return what is to run, in a line."""
    stated, months = found["inputs"], found["inputs"]["months"]
    running = f", running {stated['use']['likely']:.0%} of the hours" if stated["use"]["low"] < 1 else ""
    days = float(f"{months * HOURS_PER_MONTH / 24:.4g}")
    time = (wording.count(months, "month") if months >= 1 else wording.count(days, "day")) + running
    if stated["training_tokens"]:
        loss = f"goodput {stated['goodput'] or 'by the chips'}, overhead {stated['overhead']:.0%}"
        words = f"{stated['training_tokens']:,.0f} tokens in {wording.count(stated['deadline_days'], 'day')} ({loss})"
        return f"{stated['model']} trained on {words}"
    if stated["model"]:
        speed = f"{stated['interactivity']:g} tokens a second of a user" if stated["interactivity"] else "in batches"
        peak = f"{stated['peak']:g} times that at the peak"
        return f"{stated['model']}, {stated['tokens_per_day']:,.0f} output tokens a day, {peak}, {speed}, {time}"
    n = stated["nodes"] if stated["machine"] else stated["accelerators"]
    return f"{n:g} x {stated['machine'] or ' or '.join(stated['chips'])}, {time}"


def _named(row: Mapping[str, Any]) -> str:
    return wording.listed(row["service_provider_name"], row["instance_type"] or wording.chip(row), how(row))


def _table(rows: Iterable[Mapping[str, Any]], names: str) -> list[dict[str, Any]]:
    """Return columns of rows under the names that people read."""

    def cell(row: Mapping[str, Any], name: str) -> Any:
        value = how(row) if name == "how" else row.get(name)
        if name == "last_observed_at":
            return row.get("seen_on") or row[name].date()
        return (value or "")[:12] if name == "document_sha256" else rounded(value)

    return [{COLUMNS.get(name, name.replace("_", " ")): cell(row, name) for name in columns(names)} for row in rows]


def _conclusion(found: Mapping[str, Any]) -> Iterator[str]:
    options, market, months = found["options"], found["market"], found["inputs"]["months"]
    measured = f" Measured at {point}." if (point := _point(found)) else ""
    yield f"{load_in_words(found)}. Prices as of {found['as_of']}.{measured}"
    yield from regions.lines(found["regions"])
    by_offer = {row["offer_id"]: row for row in options}
    if found["point"] and by_offer.keys() <= {None}:
        yield "No machine is ranked for such runs; --scenario, --precision and --batch choose others."
    run = {need["accelerator_name"] for need in found["needs"]}
    if lacking := [each for each in found["inputs"]["chips"] if run.isdisjoint(dict(chips_named(each, "--chip")))]:
        yield f"No run at this point is known of {', '.join(lacking)}."
    if not options:
        where = " in these regions" if found["regions"]["allowed"] else ""
        unknown = f"No price of a chip of this name and form may be ranked{where}: `chipledger chips` lists names."
        yield "Nothing that may be ranked is sold for this: see what was left out." if found["left_out"] else unknown
        return
    seen = options[0]["last_observed_at"]
    of = f", seen on {seen:%Y-%m-%d}" if seen else ""
    yield f"Cheapest: {_named(options[0])}: {options[0]['charged_usd']:,.0f} USD{of}."
    unit = itemgetter("accelerator_name", "unit_accelerators", "network")
    if unit(options[0]) in {unit(need) for need in found["needs"] if need.get("reach") == "at most"}:
        yield "That is at most: every run of its chip was faster for a user than wanted, and fewer chips may do."
    free = next((row for row in options if row["purchase_option"] == "on_demand"), None)
    if free is not None and free is not options[0]:
        yield f"Cheapest that neither binds nor is interrupted: {_named(free)}: {free['charged_usd']:,.0f} USD."
    if market:
        least = market["providers"].values()
        yield (
            f"The market on demand: {market['quarter_usd']:,.0f} USD, lower quartile of "
            f"{wording.count(len(least), 'provider')} ({min(least):,.0f} to {max(least):,.0f})."
        )
    if loads := [float(f"{each['make_from_tokens_per_day']:.4g}") for each in found["own_is_cheaper"]]:
        own = _named(by_offer[found["own_is_cheaper"][0]["offer_id"]])
        always = f"{loads[0]:,.0f} output tokens a day on, and always above {loads[-1]:,.0f}"
        yield f"Machines beat hosted tokens from {always}: {own}."
    elif len(by_offer) > 1 and None in by_offer:
        yield "Machines beat hosted tokens at no load."
    for each in found["waiting"]:
        row = by_offer[each["offer_id"]]
        sums = (
            f"{_named(row)}: {each['commit_usd']:,.0f} USD with the cost of capital, on demand at the market "
            f"{each['stay_usd']:,.0f} for as long, {wording.count(each['months'], 'month')}"
        )
        if each["fall_at_once"] <= 0:
            yield f"Do not commit to {sums}."
            continue
        pays = "It would pay if all of its term were wanted" if each["months"] > months else "It pays"
        if not options[0]["offer_id"]:
            pays = f"Against on demand, not hosted tokens: {pays}"
        elif free and free["charged_usd"] / months < each["commit_usd"] / each["months"]:
            pays = f"Against the market, not the cheapest on demand: {pays}"
        yield (
            f"{pays} to commit to {sums}; unless on demand falls by {each['fall_at_once']:.1%} at once, or by "
            f"{min(2 * each['fall_at_once'], 1):.1%} before month {each['months'] / 2:g}; and if the machines run "
            f"{each['share_of_hours_to_pay']:.0%} of the hours or more."
        )


def _shown(options: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the cheapest option of each seller, chip, kind and length; of AWS's commitments each plan and payment."""
    seen: dict[tuple[object, ...], Mapping[str, Any]] = {}
    for row in options:
        key = row["service_provider_name"], row["accelerator_name"], row["purchase_option"], row["commitment_class"]
        terms = row["offer_terms"] if key[0] == "AWS" and key[2] in BINDING else None
        seen.setdefault((*key, terms), row)
    return list(seen.values())[:MAX_OPTIONS]


def _chips(found: Mapping[str, Any]) -> Iterator[Section]:
    """Yield how many chips the load of a model takes, and the runs that say so."""
    if found["point"] is None:
        return
    lines = ["Spare units are not in these counts, but in the sums.", TEXT["at most"]]
    sold = {(row["accelerator_name"], row["unit_accelerators"], row["network"]) for row in found["options"]}
    needs = [
        need | {"days": need["hours"] / 24 if need.get("hours") else None}
        for need in found["needs"]
        if (need["accelerator_name"], need["unit_accelerators"], need["network"]) in sold
    ]
    serving = "output_rate_per_accelerator, reach, accelerators_needed"
    rate = "rate_per_accelerator, goodput_share, days" if found["inputs"]["training_tokens"] else serving
    what = f"accelerator_name, form_factor, unit_accelerators, network, accelerators, spare_units, {rate}, benchmark"
    if found["inputs"]["training_tokens"] and not found["inputs"]["goodput"]:
        lines.append(TEXT["interrupted"])
    yield Section("Chips", lines, _table(needs, f"{what}, evidence_grade, measured_on, source_url"))


def _point(found: Mapping[str, Any]) -> str:
    point = (found["point"] or {}) | {"model_name": None}
    unit = {"input_length": "tokens in", "output_length": "tokens out"}
    return ", ".join(f"{each:g} {unit[name]}" if name in unit else each for name, each in point.items() if each)


def _cash(found: Mapping[str, Any]) -> Section:
    """Return what the cheapest option, on demand, and the cheapest commitments cost in each month, or each year."""
    options = found["options"]
    fits = {
        "cheapest": lambda row: True,
        "on demand": lambda row: row["purchase_option"] == "on_demand",
        "one year": lambda row: row["commitment_class"] == "one_year",
        "three years": lambda row: row["commitment_class"] == "three_years",
    }
    chosen = {name: row for name, fit in fits.items() if (row := next(filter(fit, options), None))}
    longest = max(len(row["cash_usd_by_month"]) for row in chosen.values())
    starts = [*range(min(MAX_MONTHS, longest)), *range(MAX_MONTHS, longest, 12)]
    ends = [*starts[1:], longest]
    table = [
        {"month": f"{start + 1}" if end == start + 1 else f"{start + 1} to {end}"}
        | {name: rounded(sum(row["cash_usd_by_month"][start:end])) for name, row in chosen.items()}
        for start, end in zip(starts, ends, strict=True)
    ]
    table.append({"month": "all"} | {name: rounded(row["charged_usd"]) for name, row in chosen.items()})
    return Section("Cash, USD", [f"{name}: {_named(row)}" for name, row in chosen.items()], table)


def _waiting(found: Mapping[str, Any]) -> Section:
    """Return the past moves of the chips, and what a cover costs more than the best one would have."""
    lines = [
        f"{row['service_provider_name']}, {row['accelerator_name']}: {row['change_ratio']:+.0%} on "
        f"{row['observed_on']}, {wording.count(row['months_on_sale'], 'month')} after it was first seen there "
        f"({wording.count(row['n_offers'], 'offer')})"
        for row in found["moves"][:MAX_MOVES]
    ] or [TEXT["no move"]]
    table, named = [], {row["offer_id"]: _named(row) for row in found["options"]}
    for each in found["waiting"]:
        of = each | {"time": wording.count(each["months"], "month"), "fewest": FEWEST_WINDOWS}
        of |= {"named": named[each["offer_id"]]}
        lines.append(TEXT["few" if each["share_of_windows_that_lost"] is None else "lost"].format_map(of))
        for name in ("if_no_change", "by_history"):
            if regret := each[f"regret_{name}_usd"]:
                covers = {f"{cover}, USD": rounded(usd) for cover, usd in regret.items()}
                table.append({"covered by": of["named"], "regret": name.replace("_", " ")} | covers)
    return Section("The price of waiting", [*lines, TEXT["forecast"]], table)


def _together(found: Mapping[str, Any]) -> Iterator[Section]:
    """Yield what several terms cost together: the best cover for the use, and all of it bought by the quarter."""
    if (of := found["together"]) is None:
        return
    bought = "; ".join("from day {from_day} {terms} x {commitment}".format_map(each) for each in of["purchases"])
    lines = [
        "Cover {cover_nodes} of {units} units ({cover_nodes_low} to {cover_nodes_high} by use): {bought}. Expected "
        "{expected_usd:,.0f} USD, with no cover {expected_usd_doing_nothing:,.0f}, all covered "
        "{expected_usd_full_cover:,.0f}.".format(bought=bought or "nothing", **of),
        TEXT["ladder"],
    ]
    by_quarter = [line | {"terms": ", ".join(line["terms"])} for line in of["by_quarter"]]
    yield Section("Several terms, and a share each quarter", lines, _table(by_quarter, LADDER))


def _added(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the sums have besides the chips, and the default for support."""
    yield from (f"In the totals: {Added(**each).words}." for each in found["inputs"]["added"])
    supported = next((row for row in found["options"] if row["support_usd"]), None)
    if supported:
        yield TEXT["support"].format(usd=supported["support_usd"], named=_named(supported))


def _conditions(found: Mapping[str, Any]) -> Iterator[str]:
    best, stated = found["options"][0], found["inputs"]
    if best["purchase_option"] in ("on_demand", "spot"):
        yield f"Machines run {stated['use']['likely']:.0%} of the hours, and are off, not paid, in the others (--use)."
    elif best["offer_id"]:
        after = f"{best['owed_after_usd']:,.0f} USD of them after your time"
        yield f"All {best['charged_hours']:,.0f} hours are paid, used or not; {after}."
    if best["purchase_option"] == "spot":
        yield "Interruptions cost no more than --spot-loss, and the lower quartile of the zones keeps its price."
    if found["point"]:
        yield "Your lengths, engine and model do what the run did, at that speed for a user."
    if best["offer_id"] and best["last_obtainable_at"] is None:
        yield "It can be had: its seller was never seen to have it in stock. Ask before you plan."
    if not stated["spare"] and not stated["model"]:
        yield "No machine fails: no spare one is in the sums (--spare 1 for N+1)."
    yield f"Capital costs {stated['capital']:.0%} a year (--capital): it ranks what is paid early, and is in no total."


def _negotiation(found: Mapping[str, Any]) -> Iterator[Section]:
    """Yield what to hold against an offer for the machines that are named."""
    market, stated = found["market"], found["inputs"]
    if not market or not stated["machine"]:
        return
    hours = stated["nodes"] * stated["months"] * HOURS_PER_MONTH * stated["use"]["likely"]
    sums = {"AWS's list": market["providers"].get("AWS"), "the median": market["median_usd"]}
    sums |= {"the number to beat: the lower quartile": market["quarter_usd"], "the lowest": market["least_usd"]}
    lines = [
        "{observed_on}: {service_provider_name} moved {accelerator_name} by {change_ratio:+.0%}".format_map(row)
        for row in found["moves"][:3]
    ]
    lines.append(f"A percent of the number to beat: {market['quarter_usd'] / stated['months'] * 0.12:,.0f} USD a year.")
    table = [
        {"on demand": name, "USD": rounded(usd), "USD a node-hour": usd and usd / hours} for name, usd in sums.items()
    ]
    yield Section("What to hold against an offer", lines, table)
