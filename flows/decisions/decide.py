"""One decision: what every way to have the chips for a load costs over its time, and what would change the choice.

A load (machines, tokens a day of a model, a training by a deadline) becomes needs: how many chips of which unit. Needs
become options, each charged as it is sold: `mart.serving_need`, `mart.training_need`, `mart.option_ladder`. Sums are of
those SELECTs; here they are put side by side, at list and, where the user has any, at contracted prices.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

import duckdb

from flows.decisions import break_even_sides as sides
from flows.decisions import regions as allowed
from flows.decisions.break_even import Range, in_memory
from flows.decisions.commitments import LARGEST_SIZE, Term, advise, cheapest_terms, demands_of
from flows.decisions.cost_added import Added
from flows.decisions.hosted import Hosted
from flows.shared.query import columns, rows
from reports import wording
from warehouse.errors import SettingsError, did_you_mean
from warehouse.reference import models
from warehouse.reference.instance_types import chips, chips_named
from warehouse.schema.vocabulary import HOURS_PER_MONTH as HOURS_PER_MONTH

OVERHEAD = 0.15
"""Checkpoints and data loading, as a share of the training's own time: claim S0-078 of ref.claim, 15 %."""
CAPITAL = 0.08
"""Cost of capital a year: our choice of 2026-11-23, to be replaced by the reader's own."""
SUPPORT = ((0, 10_000, 0.1), (10_000, 80_000, 0.07), (80_000, 250_000, 0.05), (250_000, math.inf, 0.03))
"""From and to how many USD of a month's bill AWS's Business support takes which share; at least 100 USD:
https://thenegotiationexperts.com/blog/aws-enterprise-support-negotiation, read 2026-11-23."""
COVERS = (0.0, 0.5, 1.0)
QUARTERS = 4
FEWEST_WINDOWS = 60
"""Overlapping windows of history below which no odds are shown."""
BINDING = ("reserved", "savings_plan")
EXAMPLES = (
    "chipledger decide --machine p5.48xlarge --nodes 16 --use 0.8 --months 12",
    "chipledger decide --model gpt-oss-120b --tokens-per-day 2B --peak 2 --interactivity 30 --months 12",
    "chipledger decide --model llama-3.1-8b --training-tokens 300B --deadline-days 30",
)
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is to run, where and how it may be bought; None: not stated. `use` is a share of the paid hours."""

    machine: str | None = None
    nodes: float | None = None
    chips: tuple[str, ...] = ()
    accelerators: float | None = None
    model: str | None = None
    scenario: str | None = None
    precision: str | None = None
    tokens_per_day: float | None = None
    peak: float | None = None
    interactivity: float | None = None
    is_batch: bool = False
    utilisation: float = 1.0
    training_tokens: float | None = None
    deadline_days: float | None = None
    overhead: float = OVERHEAD
    goodput: float | None = None
    months: float | None = None
    use: Range = field(default_factory=lambda: Range(low=1.0, likely=1.0, high=1.0))
    spare: int | None = None
    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    tolerates_interruption: bool = False
    spot_loss: float | None = None
    hosted: tuple[Hosted, ...] = ()
    hosted_from: tuple[str, ...] = ()
    input_per_output: float | None = None
    cached_share: float = 0.0
    capital: float = CAPITAL
    added: tuple[Added, ...] = ()
    pattern: str = "together"

    @property
    def horizon_months(self) -> float:
        """Return the months of a load, or those up to its deadline."""
        return self.months or (self.deadline_days or 0) * 24 / HOURS_PER_MONTH

    @property
    def is_training(self) -> bool:
        return self.training_tokens is not None or self.deadline_days is not None

    def missing(self) -> list[str]:
        """Return the options that a decision about this load lacks."""
        wanted: dict[str, object]
        if self.is_training:
            wanted = {"--model": self.model, "--training-tokens": self.training_tokens}
            wanted |= {"--deadline-days": self.deadline_days}
        elif self.model:
            wanted = {"--tokens-per-day": self.tokens_per_day, "--peak": self.peak, "--months or --days": self.months}
            wanted |= {"--interactivity or --batch": self.interactivity or self.is_batch or None}
        elif self.machine:
            wanted = {"--nodes": self.nodes, "--months or --days": self.months}
        else:
            wanted = {"--accelerators" if self.chips else "--machine, --chip or --model": self.accelerators}
            wanted |= {"--months or --days": self.months}
        return [name for name, value in wanted.items() if value is None]


MACHINE = """
select accelerator_name, form_factor, accelerator_count::DOUBLE as least_unit from ref.current_instance_type
where instance_type = $name
"""
SERVING = """
with need as (
    select *, if($chips is null, 0, count(distinct accelerator_name) over (partition by point_rank)) as n_wanted
    from mart.serving_need($model, $speed, $load, $utilisation)
    where
        ($scenario::VARCHAR is null or scenario = $scenario)
        and ($precision::VARCHAR is null or precision = lower($precision))
        and coalesce(abs(input_length / output_length - $ratio::DOUBLE) <= 0.01 * $ratio::DOUBLE, true)
        and coalesce(list_contains($chips::VARCHAR[], accelerator_name), true)
)

select * exclude (n_wanted), ceil(most_accelerators / unit_accelerators)::INTEGER as units_per_copy from need
qualify dense_rank() over (order by n_wanted desc, point_rank asc) = 1
order by accelerator_name, form_factor, unit_accelerators, network
"""
RUNS = """
select concat_ws(' ', scenario, precision, if(
    task = 'offline', 'in batches', format('at {:.3g} to {:.3g}', min(interactivity), max(interactivity))
), if(max(concurrency) = 1, 'one user at a time', null)) as run
from int.throughput
where
    model_name = $model and is_ranked and task in ('serving', 'offline')
    and coalesce(list_contains($chips::VARCHAR[], accelerator_name), true)
group by scenario, precision, task order by count(*) desc limit 8
"""
TRAINING = """
from mart.training_need($model, $tokens, $days, $overhead, $goodput)
order by hours, accelerator_name, form_factor, unit_accelerators, network
"""
NEED = """
accelerator_name VARCHAR, form_factor VARCHAR, instance_type VARCHAR, accelerators DOUBLE, spare_units DOUBLE,
least_unit DOUBLE, unit_accelerators DOUBLE, network VARCHAR, hours DOUBLE, hours_left DOUBLE
"""
LADDER = f"""
select l.*, o.last_obtainable_at
from mart.option_ladder(
    $needs::STRUCT({NEED})[],
    $shares::STRUCT(low DOUBLE, likely DOUBLE, high DOUBLE), $months, $tolerates, $loss, $providers
) as l
left join int.obtainable as o
    on
        l.service_provider_name = o.service_provider_name and l.accelerator_name = o.accelerator_name
        and l.purchase_option = o.purchase_option
"""
UNREAD = """
select
    concat(a.purchase_option, ': ', case
        when a.usd_per_currency_unit is null then 'no exchange rate of ' || a.pricing_currency
        when a.form_factor is null and a.accelerator_name in (select c.accelerator_name from ref.accelerator as c)
            then 'form of the chip not stated'
        else 'chip without published figures'
    end, ', ', a.service_provider_name) as reason,
    count(*) as n
from int.accelerator_hour_price as a anti join ref.accelerator as c
    on a.accelerator_name = c.accelerator_name and (a.form_factor = c.form_factor or c.form_factor is null)
    and a.usd_per_currency_unit is not null
where (a.is_ranked or a.usd_per_currency_unit is null) and list_contains($chips, a.accelerator_name)
    and decision.is_open_to_all(a.service_provider_name, a.instance_type, a.region_id)
group by reason
"""
"""Prices of chips that int.cost_option does not have: ranked ones, and those that no rate makes dollars."""
MOVES = """
select
    c.service_provider_name, c.accelerator_name, c.observed_at::DATE as observed_on,
    min(c.change_ratio) as change_ratio, count(*) as n_offers,
    date_diff('month', any_value(s.seen_at), c.observed_at::DATE) as months_on_sale
from int.price_change as c
inner join (
    select o.service_provider_name, u.accelerator_name, min(h.valid_from) as seen_at
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    inner join core.offer_unit as u on h.offer_id = u.offer_id
    group by o.service_provider_name, u.accelerator_name
) as s on c.accelerator_name = s.accelerator_name and c.service_provider_name = s.service_provider_name
where c.change_kind = 'list_change' and c.purchase_option = 'on_demand' and list_contains($chips, c.accelerator_name)
group by c.service_provider_name, c.accelerator_name, c.observed_at::DATE
order by observed_on desc, change_ratio
"""
RANKED = """
select decision.ranked_days(
    service_provider_name in (from core.market), purchase_option, commitment_term_hours, ranked_days, marketplace_days
) as days
from core.offer cross join meta.build where offer_id = $offer_id
"""
CHARGED = ("charged_usd_low", "charged_usd", "charged_usd_high")
TOGETHER = columns("""cover_nodes, cover_nodes_low, cover_nodes_high, expected_usd, expected_usd_doing_nothing,
expected_usd_full_cover, purchases""")
POINT = columns("model_name, scenario, benchmark, precision, input_length, output_length, decoding")


def workloads() -> dict[str, Row]:
    """Return the workloads that published comparisons decide for, each as what a `Load` takes of it."""
    lines = wording.table("workloads", __package__)
    numbers = columns("training_tokens, interactivity, peak, is_batch")
    return {
        line["workload"]: {"model": line["model"]} | {name: float(line[name]) for name in numbers if line[name]}
        for line in lines
    }


def own(file: Path, text: str) -> Row:
    """Return what a text such as "h200 sxm on_demand runpod" says of a `Load`. Raises SettingsError."""
    with duckdb.connect(str(file), read_only=True) as con:
        side = sides.read(text, field="--own", providers=sides.providers(con))
    return {"chips": (side.chip,)} | ({"providers": (side.provider,)} if side.provider else {})


def answer(file: Path, load: Load, *, contracted: Mapping[int, float] | None = None) -> Row:
    """Return needs, options from the cheapest on, the market, the price of waiting, and what is left out.

    `contracted` is what the user pays as a share of the list price, by offer. Raises ChipledgerError.
    """
    with allowed.opened(file, load.regions, None if load.model else load.machine) as con:
        built, point, needs, options, unpriced = _priced(con, load, contracted or {})
        market, named = _market(options), {"chips": [need["accelerator_name"] for need in needs]}
        left = Counter(f"{row['purchase_option']}: {row['left_out']}" for row in unpriced)
        left.update({row["reason"]: row["n"] for row in rows(con, UNREAD, named)})
        return {
            "as_of": built["as_of"],
            "inputs": asdict(load) | {"months": load.horizon_months},
            "regions": allowed.as_dict(con, load.regions),
            "formula": "units x chips x hours charged x USD a chip-hour; a term is charged whole",
            "point": point,
            "needs": needs,
            "options": options,
            "left_out": dict(sorted(left.items())),
            "market": market,
            "waiting": _waiting(con, _commitments(options), market, load) if market else [],
            "together": _together(options, market, load) if market else None,
            "moves": rows(con, MOVES, named),
            "own_is_cheaper": _own_is_cheaper(options, needs, load),
            "decide_again": list(_decide_again(con, options, built, load)),
        }


def options(file: Path, load: Load) -> list[Row]:
    """Return the options of an answer alone, which reads no history. Raises ChipledgerError."""
    with allowed.opened(file, load.regions, None if load.model else load.machine) as con:
        return _priced(con, load, {})[3]


def _priced(
    con: duckdb.DuckDBPyConnection, load: Load, contracted: Mapping[int, float]
) -> tuple[Row, Row | None, list[Row], list[Row], list[Row]]:
    """Return the file's date, a model's point, needs, options from the cheapest on, and rows without a price."""
    if lacking := load.missing():
        hint = f"Such as: {EXAMPLES[2 if load.is_training else 1 if load.model else 0]}"
        raise SettingsError(f"not stated yet: {'; '.join(lacking)}", field="decide", value="", hint=hint)
    (built,) = rows(con, "select built_at::DATE as as_of from meta.build")
    point, needs = _needs(con, load)
    fields = [name.split()[0] for name in columns(NEED)]
    values: Row = {"months": load.horizon_months, "tolerates": load.tolerates_interruption, "loss": load.spot_loss}
    values |= {"needs": [{name: need.get(name) for name in fields} for need in needs], "shares": asdict(load.use)}
    known = {name.casefold(): name for name in sides.providers(con)}
    for name in (each for each in load.providers if each.casefold() not in known):
        hint = did_you_mean(name, known.values())
        raise SettingsError("unknown provider", field="--provider", value=name, hint=hint)
    values |= {"providers": [known[name.casefold()] for name in load.providers] or None}
    ladder = rows(con, LADDER, values, field="decide")
    found = [_option(row, load, contracted) for row in ladder if row["left_out"] is None]
    today = max(built["as_of"], datetime.now(UTC).date())
    hosted = list(_hosted(load, point, load.horizon_months, today, like=ladder[0])) if load.hosted else []
    found += [row for row in hosted if row["left_out"] is None]
    found.sort(key=lambda row: (row["total_usd"] + row["capital_usd"], str(row["offer_id"])))
    return built, point, needs, found, [row for row in (*ladder, *hosted) if row["left_out"]]


def _needs(con: duckdb.DuckDBPyConnection, load: Load) -> tuple[Row | None, list[Row]]:
    """Return the operating point of a model, and how many chips of which unit the load takes."""
    wanted = sorted({each for name in load.chips for each in chips_named(name, "--chip")}, key=str)
    spare = {"spare_units": load.spare or 0}
    if load.model is None and load.machine:
        found = rows(con, MACHINE, {"name": load.machine})
        if not found:
            hint = did_you_mean(load.machine, (name for name in chips() if "." in name))
            raise SettingsError("this machine's chips are not known", field="--machine", value=load.machine, hint=hint)
        size = {"accelerators": (load.nodes or 0) * found[0]["least_unit"], "instance_type": load.machine}
        return None, [found[0] | size | spare]
    if load.model is None:
        size = {"accelerators": load.accelerators, "least_unit": min(8.0, load.accelerators or 0)}
        return None, [{"accelerator_name": name, "form_factor": form} | size | spare for name, form in wanted]
    of_model = {"model": known.model_name if (known := models.find(load.model)) else load.model}
    if not known and not rows(con, "select 1 from int.throughput where model_name = $model limit 1", of_model):
        raise models.unknown(load.model)
    of_chips = of_model | {"chips": sorted({name for name, _ in wanted}) or None}
    if load.is_training:
        values: Row = of_model | {"tokens": load.training_tokens, "days": load.deadline_days}
        found = rows(con, TRAINING, values | {"overhead": load.overhead, "goodput": load.goodput}, field="decide")
    else:
        values = of_chips | {"scenario": load.scenario, "precision": load.precision, "ratio": load.input_per_output}
        values |= {"speed": None if load.is_batch else load.interactivity}
        values |= {"load": (load.tokens_per_day or 0) * (load.peak or 1), "utilisation": load.utilisation}
        found = _held(con, rows(con, SERVING, values, field="decide"))
        copies = 1 if load.spare is None else load.spare
        found = [row | {"spare_units": copies * row["units_per_copy"]} for row in found]
    # Of some chips one need holds in every form, and has none.
    found = [
        spare | row
        for row in found
        if not wanted
        or any(
            row["accelerator_name"] == name and (not form or row["form_factor"] in (None, form))
            for name, form in wanted
        )
    ]
    in_time = [row for row in found if row.get("is_in_time", True)]
    if not found:
        runs = ", ".join(row["run"] for row in rows(con, RUNS, of_chips))
        hint = f"Its runs (--scenario, --precision, tokens a second of a user): {runs or 'none that may be ranked'}"
        message = f"no run of this model is known at this point{' on these chips' if wanted else ''}"
        raise SettingsError(message, field="--model", value=load.model, hint=hint)
    if not in_time:
        message = f"no cluster that was measured ends in time; the fastest takes {found[0]['hours'] / 24:,.1f} days"
        words = f"--model {load.model} --tokens {load.training_tokens:.0f}"
        hint = f"A share of the peak assumes any: chipledger cost --task training {words}"
        raise SettingsError(message, field="--deadline-days", value=load.deadline_days, hint=hint)
    same = {name: {need.get(name) for need in in_time} for name in POINT}
    return {name: values.pop() if len(values) == 1 else None for name, values in same.items()}, in_time


def _held(con: duckdb.DuckDBPyConnection, needs: list[Row]) -> list[Row]:
    """Return needs with the least chips that run a sequence of their lengths, by mart.fit, and no fewer than that."""
    point: Row = needs[0] if needs else dict.fromkeys(POINT)
    name, *lengths = (point[each] for each in ("model_name", "input_length", "output_length"))
    if (shape := models.find(name or "")) is None or None in lengths:
        return [need | {"accelerators_needed": None} for need in needs]
    context = min(math.ceil(sum(lengths)), shape.max_context_tokens)  # of a run that stretched it, the least
    values = {"model": name, "precision": point["precision"], "context": context}
    sql = "select accelerator_name, form_factor, accelerators_needed from mart.fit($model, $precision, $context, 1)"
    least = {
        (row["accelerator_name"], row["form_factor"]): row["accelerators_needed"] for row in rows(con, sql, values)
    }
    held = [(need, least.get((need["accelerator_name"], need["form_factor"]))) for need in needs]
    return [need | {"accelerators_needed": n, "accelerators": max(need["accelerators"], n or 0)} for need, n in held]


def _option(row: Mapping[str, Any], load: Load, contracted: Mapping[int, float]) -> Row:
    """Return an option at the user's own price where it has one, with its cash by month and the cost of capital."""
    share = contracted.get(row["offer_id"], 1.0)
    priced = (*CHARGED, "price_usd", "upfront_usd_per_term")
    found = dict(row) | {name: None if row[name] is None else row[name] * share for name in priced}
    cash = list(_cash(found))
    even, rate = found["charged_usd"] / len(cash), load.capital / 12
    tokens = load.training_tokens or (load.tokens_per_day or 0) * row["hours_needed"] / 24
    return found | {
        "is_contracted": row["offer_id"] in contracted,
        "list_usd": row["charged_usd"],
        "cash_usd_by_month": cash,
        "capital_usd": round(sum((paid - even) * rate * (len(cash) - month) for month, paid in enumerate(cash)), 2)
        + 0.0,
        "owed_after_usd": found["charged_usd"] * max(0.0, 1 - row["hours_needed"] / row["charged_hours"]),
        "usd_per_million_tokens": found["charged_usd"] / tokens * 1e6 if tokens else None,
        **_on_top(found, cash, load),
    }


def _on_top(row: Mapping[str, Any], cash: Sequence[float], load: Load) -> Row:
    """Return what the user adds to an option's charge, and what AWS's Business support would take of its cash."""
    months, usd = row["hours_needed"] / HOURS_PER_MONTH, row["charged_usd"]
    added = sum((each.usd_per_month or 0.0) * months + (each.share or 0.0) * usd for each in load.added)
    bills = [usd for month, usd in enumerate(cash) if usd or month < months]
    each_month = (sum(share * max(0.0, min(usd, top) - low) for low, top, share in SUPPORT) for usd in bills)
    is_aws = row["service_provider_name"] == "AWS" and all(each.name != "support" for each in load.added)
    support = sum(max(100.0, usd) for usd in each_month) if is_aws else None
    return {"added_usd": added, "support_usd": support, "total_usd": usd + added}


def _cash(row: Mapping[str, Any]) -> Iterator[float]:
    """Yield what is paid in each month: upfront fees as a term begins, a Capacity Block when it is bought."""
    hours = row["charged_hours"]
    months = max(1, math.ceil(round(hours / HOURS_PER_MONTH, 6)))
    upfront = row["charged_usd"] if row["purchase_option"] == "capacity_block" else row["upfront_usd_per_term"] or 0.0
    term = (row["commitment_term_hours"] if row["purchase_option"] in BINDING else None) or hours
    starts = [int(n * term / HOURS_PER_MONTH) for n in range(max(1, int(hours / term)))] if upfront else []
    rest = row["charged_usd"] - upfront * len(starts)
    for month in range(months):
        yield rest * min(HOURS_PER_MONTH, hours - month * HOURS_PER_MONTH) / hours + upfront * starts.count(month)


def _hosted(load: Load, point: Mapping[str, Any] | None, months: float, today: date, *, like: Row) -> Iterator[Row]:
    """Yield what the user's hosted prices cost for the same tokens, or why that is unknown. Raises SettingsError."""
    offers = [
        one
        for one in load.hosted
        if (named := models.find(one.model)) and point and named.model_name == point["model_name"]
    ]
    if point is None or load.is_training or not offers:
        hint = f"The prices are of {', '.join(sorted({one.model for one in load.hosted}))}; they need --tokens-per-day"
        raise SettingsError("no hosted price is of that model", field="--model", value=load.model, hint=hint)
    ratio = load.input_per_output
    if ratio is None:
        if not point["input_length"] or not point["output_length"]:
            raise SettingsError("the benchmark does not state its input", field="--input-per-output", value="")
        ratio = point["input_length"] / point["output_length"]
    sums, hours = in_memory(), months * HOURS_PER_MONTH
    holds = {(one.provider, one.model): one for one in sorted(offers, key=lambda one: one.as_of) if one.as_of <= today}
    for one in offers:  # of several days of one price the last up to today holds
        prices = one.input_usd_per_million, one.output_usd_per_million, one.cached_input_usd_per_million
        amounts = [None if price is None else float(price) for price in prices]
        million = sums.value("decision.hosted_usd_per_million", *amounts, ratio, load.cached_share)
        spend = million and sums.value("decision.monthly_spend", load.tokens_per_day, million)
        row = dict.fromkeys(like) | {"service_provider_name": one.provider, "purchase_option": "hosted tokens"}
        is_held = holds.get((one.provider, one.model)) is one
        if spend is None or not is_held:
            yield row | {"left_out": "price of cached input not stated" if is_held else "price of another day"}
            continue
        row |= dict.fromkeys(CHARGED, spend * months) | {"source_url": one.url, "seen_on": one.as_of}
        yield _option(row | {"hours_needed": hours, "charged_hours": hours}, load, {})


def _own_is_cheaper(options: Sequence[Row], needs: Sequence[Row], load: Load) -> list[Row]:
    """Return between which tokens a day in the mean machines cost less than the cheapest hosted price.

    As `mart.make_or_buy`, with machines for the peak and spare ones, in as many units as one copy of the model takes:
    of the option that pays from the least load on, which need not be the cheapest at the load that is stated.
    """
    bought = next((row for row in options if row["purchase_option"] == "hosted tokens"), None)
    if bought is None or not bought["usd_per_million_tokens"]:
        return []
    same, found = itemgetter("accelerator_name", "unit_accelerators", "network"), []
    for own in (row for row in options if row["offer_id"] is not None):
        alike = (need for need in needs if same(need) == same(own))
        need = next(n for n in alike if n["form_factor"] in (None, own["form_factor"]))
        unit, spare, step = own["unit_accelerators"], need["spare_units"], need["units_per_copy"]
        pays = own["charged_usd"] / own["units"] / own["hours_needed"] * 24 / bought["usd_per_million_tokens"] * 1e6
        full = unit * need["output_rate_per_accelerator"] * 86400 * load.utilisation / (load.peak or 1)
        if pays < full:
            first = math.floor(spare * pays / (full - pays)) // step + 1
            first = max(first, math.ceil((need["accelerators_needed"] or 0) / unit / step))
            found.append(((first * step + spare) * pays, own["offer_id"], first, spare, step, pays, full))
    if not found:
        return []
    _, offer, first, spare, step, pays, full = min(found)
    last = max(first, math.ceil((step * full + spare * pays) / (full - pays) / step) - 1)
    names = columns("unit_count, make_from_tokens_per_day, make_until_tokens_per_day, offer_id")
    each = ((n * step + spare, n * step, n < last) for n in (*range(first, min(last, first + 1000)), last))
    return [dict(zip(names, (n, n * pays, run * full if ends else None, offer), strict=True)) for n, run, ends in each]


def _market(options: Sequence[Row]) -> Row | None:
    """Return the lower quartile, over providers, of what the load costs on demand; None where nobody asks a price."""
    least: dict[str, float] = {}
    for row in options:
        if row["purchase_option"] == "on_demand":
            name = row["service_provider_name"]
            least[name] = min(row["list_usd"], least.get(name, math.inf))
    if not least:
        return None
    prices = sorted(least.values())
    quarter, half, _ = quantiles(prices, n=4, method="inclusive") if len(prices) > 1 else prices * 3
    return {"quarter_usd": quarter, "median_usd": half, "least_usd": prices[0], "providers": least}


def _commitments(options: Sequence[Row]) -> list[Row]:
    """Return the cheapest commitment of each length, the shortest first."""
    first: dict[str, Row] = {}
    for row in options:
        if row["purchase_option"] in BINDING:
            first.setdefault(row["commitment_class"], row)
    return sorted(first.values(), key=lambda row: row["commitment_term_hours"])


def _waiting(
    con: duckdb.DuckDBPyConnection, commitments: Sequence[Row], market: Mapping[str, Any], load: Load
) -> list[Row]:
    """Return what each commitment is worth against waiting, by what list prices did over as many months."""
    months = [max(1, round(row["charged_hours"] / HOURS_PER_MONTH)) for row in commitments]
    ratios: dict[int, list[float]] = {each: [] for each in months}
    for window in rows(con, "from mart.price_window($months)", {"months": [*ratios]}) if ratios else ():
        ratios[window["months"]].append(window["mean_ratio"])
    return [_wait(row, each, ratios[each], market, load) for row, each in zip(commitments, months, strict=True)]


def _wait(row: Row, months: int, windows: Sequence[float], market: Mapping[str, Any], load: Load) -> Row:
    """Return what a commitment is worth against staying on demand at the market's lower quartile, for as long.

    `fall_at_once` is how far on demand must fall on the first day until both cost the same; in the middle of the time
    twice as far. A regret is the mean of what a cover costs more than the best one: over all windows, none drawn, their
    ratios to 12 digits, as means of several threads differ in the last bit.
    """
    stay = market["quarter_usd"] * row["charged_hours"] / row["hours_needed"]
    commit = row["charged_usd"] + row["capital_usd"]
    ratios = windows if len(windows) >= FEWEST_WINDOWS else []

    def costs(ratio: float) -> dict[str, float]:
        """Return the cost of each cover, and of a quarter of it in each of four quarters, while a term is cheaper."""
        waits = [min(3 * quarter / months, 1.0) for quarter in range(QUARTERS)]
        later = min(commit, ratio * stay)
        found = {f"{cover:.0%}": cover * commit + (1 - cover) * stay * ratio for cover in COVERS}
        parts = (wait * stay * ratio + (1 - wait) * (later if wait else commit) for wait in waits)
        return found | {"a quarter each quarter": fmean(parts)}

    def regret(of: Sequence[float]) -> dict[str, float]:
        each = [costs(ratio) for ratio in of]
        return {name: fmean(one[name] - min(one.values()) for one in each) for name in each[0]}

    return {
        "offer_id": row["offer_id"],
        "months": months,
        "commit_usd": commit,
        "stay_usd": stay,
        "fall_at_once": 1 - commit / stay,
        "share_of_hours_to_pay": commit / stay * load.use.likely,
        "n_windows": len(windows),
        "share_of_windows_that_lost": fmean(r < commit / stay for r in ratios) if ratios else None,
        "regret_if_no_change_usd": regret([1.0]),
        "regret_by_history_usd": regret(ratios) if ratios else None,
    }


def how(row: Mapping[str, Any]) -> str:
    """Return how an option is bought, its length and its terms."""
    hours = row["commitment_term_hours"] if row["purchase_option"] in BINDING else None
    own = "your price" if row["is_contracted"] else None
    return wording.listed(row["purchase_option"].replace("_", " "), wording.term(hours), row["offer_terms"], own)


def _together(options: Sequence[Row], market: Mapping[str, Any], load: Load) -> Row | None:
    """Return what several terms cost together: the best cover for the use, and all of it bought by the quarter.

    Terms are those of the unit that the cheapest commitment has, one after another, each whole (`commitments.advise`);
    what they do not cover is on demand at the market's lower quartile. None without a commitment, or of too many units.
    """
    bound = [row for row in options if row["purchase_option"] in BINDING and not load.is_training]
    if not bound or bound[0]["units"] > LARGEST_SIZE:
        return None
    of_unit = itemgetter("accelerator_name", "unit_accelerators", "network", "units")
    _, unit, _, units = of_unit(bound[0])
    terms = [
        Term(
            name=f"{row['service_provider_name']} {how(row)}",
            hours=_hours_of_a_term(row),
            hourly=row["price_usd"] * unit,
            offer_id=row["offer_id"],
        )
        for row in bound
        if of_unit(row) == of_unit(bound[0])
    ]
    hours, use = bound[0]["hours_needed"], asdict(load.use)
    days, hourly = max(1, round(hours / 24)), market["quarter_usd"] / (units * hours * load.use.likely)
    on_demand = hourly * hours / 24 / days  # of whole days
    common: Row = {"on_demand": on_demand, "terms": terms, "owned": 0, "owned_days": 0, "days": days}
    best = advise(demands=demands_of(use, units, load.pattern), ratios={"expected": 1.0}, **common)
    ladder = []
    for quarter in range(QUARTERS):
        count, waited = units * (quarter + 1) // QUARTERS - units * quarter // QUARTERS, min(91 * quarter, days)
        chain = cheapest_terms(terms, days - waited)
        line = {"quarter": quarter + 1, "units": count, "terms": [f"{n} x {term.name}" for term, n in chain.items()]}
        line["committed_usd"] = count * sum(n * term.usd for term, n in chain.items())
        line["on_demand_before_usd"] = count * waited * 24 * hourly * load.use.likely
        ladder.append(line | {"on_demand_usd_per_chip_hour": hourly / unit})
    return {name: best[name] for name in TOGETHER} | {"units": units, "by_quarter": ladder}


def _hours_of_a_term(row: Row) -> float:
    """Return how long one term of a commitment is: of a length sold as a range, such as 91 to 180 days, equal parts."""
    return float(row["charged_hours"] / (row["charged_hours"] // row["commitment_term_hours"]))


def _decide_again(con: duckdb.DuckDBPyConnection, options: Sequence[Row], built: Row, load: Load) -> Iterator[Row]:
    """Yield days and prices at which the question is to be put again."""
    if options and options[0]["offer_id"]:
        (ranked,) = rows(con, RANKED, {"offer_id": options[0]["offer_id"]})
        until = options[0]["last_observed_at"].date() + timedelta(days=ranked["days"])
        yield {"when": str(until), "why": "the price of the cheapest option is then too old to rank"}
    for row in _commitments(options):
        ends = built["as_of"] + timedelta(hours=_hours_of_a_term(row))
        length = (row["commitment_class"] or "").replace("_", " ")
        yield {"when": str(ends), "why": f"the cheapest commitment of {length}, bought now, ends"}
        if row["charged_hours"] == row["hours_needed"]:
            price = f"{row['price_usd'] / load.use.likely:.4g}"
            yield {"when": f"on demand below {price} USD a chip-hour", "why": f"it then costs less than {length}"}
