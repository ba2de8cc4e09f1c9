"""A side of a move: what its text names, and what the published file knows of it.

"h200 spot spheron" is a chip, how it is bought, and who sells it, in any order. Every word must be understood; one that
is not is an error that names it and what is allowed. Nothing is guessed: no option stands for another, and no chip for
a similar one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from flows.decisions import chips
from flows.decisions.cost import by_rank
from flows.shared.query import columns, rows
from warehouse.errors import SettingsError, plain
from warehouse.reference import accelerators, instance_types
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

COMMITMENTS = ("under_a_year", "one_year", "two_years", "three_years", "longer")
CAPACITIES = ("fraction", "single", "several", "node", "cluster", "rack")
_COUNT = re.compile(r"x?\d+x?")
_AWS = "AWS"


@dataclass(frozen=True, kw_only=True)
class Use:
    """How both sides are used, alike: share of the measured rate, and shares of paid hours that run."""

    utilisation: float = 1.0
    commitment_use: float | None = None
    spot_running_share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Side:
    """What is rented on one side: None where the text leaves it open.

    `machine` is an AWS type (trn2.48xlarge) or family of types (trn2), of which alone prices count then.
    """

    text: str
    accelerator_name: str
    form_factor: str | None
    purchase_option: str
    provider: str | None
    commitment_class: str | None
    capacity_class: str | None
    machine: str | None

    @property
    def chip(self) -> str:
        """Return the chip and its form, as the text has them."""
        return " ".join(filter(None, (self.accelerator_name, self.form_factor)))

    @property
    def full(self) -> str:
        """Return the side in full."""
        provider = self.provider or "any provider"
        parts = self.chip, self.machine, self.purchase_option, provider, self.commitment_class, self.capacity_class
        return ", ".join(filter(None, parts))

    @property
    def values(self) -> dict[str, str | None]:
        """Return the values of the conditions `FILTER`."""
        return {name: value for name, value in asdict(self).items() if name != "text"}


FILTER = """
accelerator_name = $accelerator_name and purchase_option = $purchase_option
and ($form_factor::VARCHAR is null or form_factor = $form_factor)
and ($provider::VARCHAR is null or service_provider_name = $provider)
and ($commitment_class::VARCHAR is null or commitment_class = $commitment_class)
and ($capacity_class::VARCHAR is null or capacity_class = $capacity_class)
and ($machine::VARCHAR is null or instance_type = $machine or starts_with(instance_type, $machine || '.'))
"""
"""Which rows of a mart are of a side."""


def read(text: str, *, field: str, providers: Iterable[str]) -> Side:
    """Return the side that a text names. Raises SettingsError for an unknown word, and where something is missing."""
    known = {plain(provider, " "): provider for provider in providers}
    vocabulary: dict[str, tuple[str, str]] = {
        **{phrase: ("provider", name) for phrase, name in known.items()},
        **{plain(name, " "): ("capacity_class", name) for name in CAPACITIES},
        **{plain(name, " "): ("commitment_class", name) for name in COMMITMENTS},
        **{plain(name, " "): ("purchase_option", name) for name in PURCHASE_OPTIONS},
    }
    found, left = _phrases(text, vocabulary, field)
    allowed = (
        f"Allowed: a chip (`chipledger chips` lists them) or an AWS type; {', '.join(PURCHASE_OPTIONS)}; a length, "
        f"{', '.join(COMMITMENTS)}; a size, {', '.join(CAPACITIES)}; a provider, {', '.join(sorted(known.values()))}"
    )
    machine, chip = _chip(left, text=text, field=field, allowed=allowed)
    if "purchase_option" not in found:
        hint = f"Add one of {', '.join(PURCHASE_OPTIONS)}"
        raise SettingsError("names no purchase option", field=field, value=text, hint=hint)
    provider = found.get("provider")
    if machine and provider not in (None, _AWS):
        raise SettingsError(f"{machine} is sold by AWS, not by {provider}", field=field, value=text)
    chosen: dict[str, Any] = {"provider": None, "commitment_class": None, "capacity_class": None} | found
    chosen |= {"provider": _AWS} if machine else {}
    return Side(text=text, accelerator_name=chip[0], form_factor=chip[1], machine=machine, **chosen)


def _phrases(text: str, vocabulary: Mapping[str, tuple[str, str]], field: str) -> tuple[dict[str, str], list[str]]:
    """Return what phrases of the vocabulary mean, the longest first, and the words that are in none."""
    phrases = "|".join(sorted((re.escape(each) for each in vocabulary), key=len, reverse=True)).replace(
        r"\ ", r"[\s_-]+"
    )
    found: dict[str, str] = {}

    def understood(match: re.Match[str]) -> str:
        kind, name = vocabulary[plain(match[0], " ")]
        if found.setdefault(kind, name) != name:
            message = f"names two of one kind ({kind.replace('_', ' ')}): {found[kind]} and {name}"
            raise SettingsError(message, field=field, value=text)
        return ""

    left = re.sub(rf"(?<!\S)({phrases})(?!\S)", understood, text.replace(",", " "), flags=re.IGNORECASE)
    return found, left.split()


def _chip(left: Sequence[str], *, text: str, field: str, allowed: str) -> tuple[str | None, tuple[str, str | None]]:
    """Return the AWS machine, if one is named, and the chip with its form."""
    if not left:
        raise SettingsError("names no chip", field=field, value=text, hint=allowed)
    machines = instance_types.chips()
    named = [word for word in left if word.lower() in machines]
    if named:
        chip = machines[named[0].lower()]
        others = [word for word in left if word not in named]
        same = accelerators.resolve(" ".join(others)) if others else None
        if same and same.accelerator_name == chip[0] and same.form_factor in (None, chip[1]):
            others = []
        others += named[1:]
        if others:
            raise SettingsError(f"the word {others[0]!r} is not understood", field=field, value=text, hint=allowed)
        return named[0].lower(), chip
    found = accelerators.resolve(" ".join(left))
    counts = [word for word in left if _COUNT.fullmatch(word) and accelerators.resolve(_without(left, word)) == found]
    if found is None or counts:
        strange = counts or [word for word in left if accelerators.resolve(_without(left, word))]
        strange = strange or [word for word in left if accelerators.resolve(word) is None] or [" ".join(left)]
        raise SettingsError(f"the word {strange[0]!r} is not understood", field=field, value=text, hint=allowed)
    chip, *sizes = instance_types.chips_named(" ".join(left), field)
    if sizes:
        hint = f"Name one: {', '.join(name for name, _ in sizes)}"
        raise SettingsError("names a chip of several sizes of memory", field=field, value=text, hint=hint)
    return None, chip


def _without(words: Sequence[str], word: str) -> str:
    return " ".join(each for each in words if each != word)


POINT = columns("""
model_name, task, scenario, benchmark_family, benchmark, precision_bits, input_length, output_length, decoding,
interactivity, interactivity_statistic
""")
"""What both sides must share: precisions by their bits, all else as it is."""
SHOWN = columns("""
accelerator_name, form_factor, service_provider_name, host_provider_name, purchase_option, commitment_class,
capacity_class, region_id, instance_type, unit_accelerators, price_basis, low_price_usd, price_usd, high_price_usd,
paid_rate_usd, running_share, utilisation, is_current, last_observed_at, price_source,
price_document_sha256, offer_id, precision, reach, ttft_ms, high_output_rate, median_output_rate, low_output_rate,
evidence_grade, rate_bound_per_accelerator, binding_bound, share_of_bound, n_runs, software, measured_by, measured_on,
throughput_id, source_url, slower_source_url, tokens_per_day, paid_accelerators, usd_per_month_at_load
""")
"""What is shown next to a cost: the price and the run it is of, with dates, documents, grade and bound."""
MAX_POINTS = 8
"""Points that a reason names; the rest is counted."""
_WHERE_MEASURED = (
    "model_name, scenario, benchmark, decision.precision_class(precision) from int.throughput "
    "where accelerator_name = $chip and is_ranked and task <> 'training'"
)
_WHERE_MEASURED_TOO = _WHERE_MEASURED.replace("$chip", "$other")
Points = dict[tuple[Any, ...], dict[str, Any]]


def providers(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of all who sell or sold anything here."""
    sql = "select distinct service_provider_name as name from core.offer where service_provider_name is not null"
    return sorted(row["name"] for row in rows(con, sql, {}))


def models_of(con: duckdb.DuckDBPyConnection, sides: Sequence[Side], model: str | None) -> list[str]:
    """Return the models to compare: the one that is named, or all that any chip of the sides was measured with."""
    if model is not None:
        return [chips.model_named(model)]
    sql = (
        "select distinct model_name from int.serving_offer "
        "where list_contains($chips, accelerator_name) and is_ranked order by 1"
    )
    return [row["model_name"] for row in rows(con, sql, {"chips": [side.accelerator_name for side in sides]})]


def points(
    con: duckdb.DuckDBPyConnection,
    side: Side,
    names: Sequence[str],
    interactivity: float | None,
    tokens_per_day: float | None,
    use: Use,
) -> Points:
    """Return the best offer of a side at each point: ranked prices first, then the better grade, then the cheaper.

    Raises SettingsError where the text leaves open which of several lengths of commitment is meant.
    """
    best: Points = {}
    lengths = set()
    sql = (
        "select *, decision.precision_class(precision) as precision_bits from mart.serving_cost("
        f"$model, $speed, $used, $committed, $spot, $load) where {FILTER} and is_ranked "
        "and all_in_output_usd_median is not null"
    )
    values: dict[str, Any] = side.values | {"speed": interactivity, "load": tokens_per_day, "used": use.utilisation}
    values |= {"committed": use.commitment_use, "spot": use.spot_running_share}
    for name in names:
        for row in rows(con, sql, values | {"model": name}):
            lengths.add(row["commitment_class"])
            point = tuple(row[each] for each in POINT)
            if row["precision_bits"] is not None and (point not in best or _order(row) < _order(best[point])):
                best[point] = row
    if len(lengths) > 1:
        hint = f"Add one of {', '.join(sorted(filter(None, lengths)))}"
        raise SettingsError("leaves open which length of commitment is meant", field="side", value=side.text, hint=hint)
    return {point: best[point] for point in sorted(best, key=described)}


def _order(row: Mapping[str, Any]) -> tuple[bool, str, tuple[Any, ...]]:
    return not row["is_price_ranked"], row["evidence_grade"], by_rank(row)


def price(con: duckdb.DuckDBPyConnection, side: Side, use: Use) -> dict[str, Any] | None:
    """Return the best-ranked price of a side, or else the newest, and what an hour of it costs; None without one."""
    found = rows(
        con,
        "select accelerator_name, form_factor, service_provider_name, purchase_option, commitment_class, "
        "capacity_class, region_id, instance_type, unit_accelerators, price_usd, cost.paid_rate("
        "price_usd, case purchase_option when 'on_demand' then 1 when 'spot' then $spot "
        "else coalesce($committed, 1.0) end) as paid_rate_usd, is_current, last_observed_at, source as price_source, "
        f"document_sha256 as price_document_sha256, offer_id from int.cost_price where {FILTER} "
        "order by not is_price_ranked, if(is_price_ranked, price_usd, age_days), offer_id limit 1",
        {**side.values, "spot": use.spot_running_share, "committed": use.commitment_use},
    )
    return found[0] if found else None


def compute_bound(con: duckdb.DuckDBPyConnection, priced: Mapping[str, Any], model_name: str) -> float | None:
    """Return the tokens a second that one chip can do at its best precision at most; None where that is unknown."""
    found = rows(
        con,
        "select max(physics.forward_compute_bound(1, physics.fastest_tflops(c), physics.pass_flop(m))) as bound "
        "from ref.accelerator as c cross join ref.model as m where c.accelerator_name = $chip "
        "and m.model_name = $model and (c.form_factor is null or c.form_factor = $form)",
        {"chip": priced["accelerator_name"], "form": priced["form_factor"], "model": model_name},
    )
    return None if found[0]["bound"] is None else float(found[0]["bound"])


def reasons(
    con: duckdb.DuckDBPyConnection, sides: Mapping[str, Any], found: Mapping[str, Points], names: Sequence[str]
) -> Iterator[str]:
    """Yield why no point has both sides."""
    for name, side in sides.items():
        if isinstance(side, Side) and not found.get(name):
            yield from _lacking(con, side, names)
    start, target = sides["from"], sides["to"]
    if isinstance(start, Side) and isinstance(target, Side):
        met = rows(
            con,
            f"select count(*) as n from (select {_WHERE_MEASURED} intersect select {_WHERE_MEASURED_TOO})",
            {"chip": start.accelerator_name, "other": target.accelerator_name},
        )
        if not met[0]["n"]:
            yield f"no point at which both {start.accelerator_name} and {target.accelerator_name} were measured"
    if found.get("from") and found.get("to"):
        for one, other, mine in ((target, start, found["from"]), (start, target, found["to"])):
            shown = sorted({", ".join(map(str, point[:1] + point[2:3] + point[4:5])) for point in mine})
            more = f" and {len(shown) - MAX_POINTS} more" if len(shown) > MAX_POINTS else ""
            yield f"no measured run of {one.chip} at any point of {other.chip}: {'; '.join(shown[:MAX_POINTS])}{more}"


def described(point: Sequence[Any]) -> str:
    """Return a point as text."""
    of = dict(zip(POINT, point, strict=True))
    lengths = [of["input_length"], of["output_length"]]
    ratio = "lengths " + "/".join("?" if one is None else f"{one:g}" for one in lengths)
    speed, statistic = of["interactivity"], of["interactivity_statistic"] or ""
    parts = (
        *(of[name] for name in ("model_name", "scenario", "benchmark")),
        f"{of['precision_bits']} bits",
        None if lengths == [None, None] else ratio,
        of["decoding"],
        None if speed is None else f"{speed:g} tok/s/user {statistic}".strip(),
    )
    return ", ".join(filter(None, parts))


def _lacking(con: duckdb.DuckDBPyConnection, side: Side, names: Sequence[str]) -> Iterator[str]:
    """Yield why a side has no cost at all: no run, no price, or prices that nothing can be computed with."""
    runs = rows(
        con,
        "select model_name, count(*) as n from int.throughput where accelerator_name = $chip and task <> 'training' "
        "and unit_of_work = 'token' and is_ranked group by model_name order by 1",
        {"chip": side.accelerator_name},
    )
    of_models = [run for run in runs if run["model_name"] in names]
    if not names:
        yield f"no model is named, so that no run of {side.chip} is compared"
    elif not runs:
        yield f"no measured run of {side.chip} at this point, nor at any other"
    elif not of_models:
        models_measured = ", ".join(run["model_name"] for run in runs)
        yield f"no measured run of {side.chip} at this point: it was measured with {models_measured} alone"
    priced = rows(con, f"select * from int.provider_price where {FILTER} order by last_observed_at desc", side.values)
    usable = rows(con, f"select 1 from int.cost_price where {FILTER} limit 1", side.values)
    if not priced:
        yield f"no price of {side.full}"
    elif not usable:
        amounts = sorted(
            {
                f"{row['cheapest_price_usd'] or row['median_price_usd']:g} USD/chip-h "
                f"({row['last_observed_at']:%Y-%m-%d}"
                f"{', a from-price, which nobody may be offered' if row['is_floor'] else ''}"
                f"{', form of the chip not stated' if row['form_factor'] is None else ''})"
                for row in priced
                if row["cheapest_price_usd"] or row["median_price_usd"]
            }
        )
        yield f"no price of {side.full} that a cost can be computed with: {'; '.join(amounts) or 'none in US dollars'}"
    elif of_models:
        yield (
            f"no measured run of {side.chip} at this point that fits what {side.provider or 'anybody'} sells at once: "
            "too many chips, a speed out of reach, or evidence that is not ranked"
        )
