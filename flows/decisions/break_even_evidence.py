"""What the published file knows of the sides of a move: costs at operating points, prices, and why there is none."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from flows.decisions import regions as allowed
from flows.decisions.break_even_sides import FILTER, Side
from flows.decisions.break_even_sums import Use
from flows.decisions.cost import by_rank
from flows.shared.query import rows
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.reference import models

POINT = (
    "model_name",
    "task",
    "scenario",
    "benchmark_family",
    "benchmark",
    "precision_bits",
    "input_length",
    "output_length",
    "decoding",
    "interactivity",
    "interactivity_statistic",
)
"""What both sides must share: precisions by their bits, all else as it stands."""
SHOWN = (
    "accelerator_name",
    "form_factor",
    "service_provider_name",
    "host_provider_name",
    "purchase_option",
    "commitment_class",
    "capacity_class",
    "region_id",
    "instance_type",
    "unit_accelerators",
    "price_basis",
    "low_price_usd",
    "median_price_usd",
    "high_price_usd",
    "paid_rate_usd",
    "running_share",
    "utilisation",
    "is_current",
    "last_observed_at",
    "price_source",
    "price_document_sha256",
    "offer_id",
    "precision",
    "reach",
    "ttft_ms",
    "high_output_rate",
    "median_output_rate",
    "low_output_rate",
    "evidence_grade",
    "rate_bound_per_accelerator",
    "binding_bound",
    "share_of_bound",
    "n_runs",
    "software",
    "measured_by",
    "measured_on",
    "throughput_id",
    "source_url",
    "slower_source_url",
    "tokens_per_day",
    "paid_accelerators",
    "usd_per_month_at_load",
)
"""What stands beside a cost: the price and the run it is of, with dates, documents, grade and bound."""
MOST_POINTS = 8
"""Points that a reason names; the rest is counted."""
_WHERE_MEASURED = (
    "model_name, scenario, benchmark, decision.precision_class(precision) from int.throughput "
    "where accelerator_name = $chip and is_ranked and task <> 'training'"
)
_WHERE_MEASURED_TOO = _WHERE_MEASURED.replace("$chip", "$other")
Points = dict[tuple[Any, ...], dict[str, Any]]


@contextmanager
def opened(file: Path, regions: Sequence[str] = ()) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give the published file, cut to some regions if any. Raises ChipledgerError where it has no costs yet."""
    with allowed.opened(file, regions) as con:
        try:
            yield con
        except duckdb.CatalogException as error:
            raise ChipledgerError(
                "the published file has no costs yet", source=file.name, hint="`chipledger build` makes it anew"
            ) from error


def providers(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of all who sell or sold anything here."""
    sql = "select distinct service_provider_name as name from core.offer where service_provider_name is not null"
    return sorted(row["name"] for row in rows(con, sql, {}))


def models_of(con: duckdb.DuckDBPyConnection, sides: Sequence[Side], model: str | None) -> list[str]:
    """Return the models to look at: the one that is named, or all that any chip of the sides was measured with."""
    if model is not None:
        known = models.find(model)
        if known is None:
            raise models.unknown(model)
        return [known.model_name]
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

    Raises SettingsError where the words leave open which of several lengths of commitment is meant.
    """
    best: Points = {}
    lengths = set()
    for name in names:
        for row in rows(
            con,
            "select *, decision.precision_class(precision) as precision_bits from mart.serving_cost("
            f"$model, $speed, $used, $committed, $spot, $load) where {FILTER} and is_ranked "
            "and all_in_output_usd_median is not null",
            {
                **side.values,
                "model": name,
                "speed": interactivity,
                "used": use.utilisation,
                "committed": use.commitment_use,
                "spot": use.spot_running_share,
                "load": tokens_per_day,
            },
        ):
            lengths.add(row["commitment_class"])
            point = tuple(row[each] for each in POINT)
            if row["precision_bits"] is not None and (point not in best or _order(row) < _order(best[point])):
                best[point] = row
    if len(lengths) > 1:
        raise SettingsError(
            "leaves open which length of commitment is meant",
            field="side",
            value=side.text,
            hint=f"Add one of {', '.join(sorted(filter(None, lengths)))}",
        )
    return {point: best[point] for point in sorted(best, key=described)}


def _order(row: Mapping[str, Any]) -> tuple[bool, str, tuple[bool, int, float, int]]:
    return not row["is_price_ranked"], row["evidence_grade"], by_rank(row)


def price(con: duckdb.DuckDBPyConnection, side: Side, use: Use) -> dict[str, Any] | None:
    """Return the best-ranked price of a side, or else the newest, and what an hour of it costs; None without one."""
    found = rows(
        con,
        "select accelerator_name, form_factor, service_provider_name, purchase_option, commitment_class, "
        "capacity_class, region_id, instance_type, unit_accelerators, median_price_usd, cost.paid_rate("
        "median_price_usd, case purchase_option when 'on_demand' then 1 when 'spot' then $spot else $committed end) "
        "as paid_rate_usd, is_current, last_observed_at, source as price_source, "
        f"document_sha256 as price_document_sha256, offer_id from int.cost_price where {FILTER} "
        "order by price_rank nulls last, age_days, offer_id limit 1",
        {**side.values, "spot": use.spot_running_share, "committed": use.commitment_use},
    )
    return found[0] if found else None


def compute_bound(con: duckdb.DuckDBPyConnection, priced: Mapping[str, Any], model_name: str) -> float | None:
    """Return the tokens a second that one chip can do at its best precision at most; None where that is unknown."""
    found = rows(
        con,
        "select max(physics.forward_compute_bound(1, physics.best_dense_tflops(c.dense_bf16_tflops, "
        "c.dense_fp16_tflops, c.dense_fp8_tflops, c.dense_fp4_tflops, c.dense_int8_tops)::DOUBLE, "
        "physics.forward_flop_per_token(m.parameters_active, m.layers, m.attention_size, 0))) as bound "
        "from ref.accelerator as c cross join ref.model as m where c.accelerator_name = $chip "
        "and m.model_name = $model and (c.form_factor is null or c.form_factor = $form)",
        {"chip": priced["accelerator_name"], "form": priced["form_factor"], "model": model_name},
    )
    return None if found[0]["bound"] is None else float(found[0]["bound"])


def reasons(
    con: duckdb.DuckDBPyConnection,
    sides: Mapping[str, Any],
    found: Mapping[str, Points | None],
    names: Sequence[str],
) -> Iterator[str]:
    """Yield in words why no point has both sides."""
    for name, side in sides.items():
        if isinstance(side, Side) and not found[name]:
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
            shown = sorted({", ".join(map(str, point[:1] + point[2:3] + point[4:5])) for point in mine or {}})
            more = f" and {len(shown) - MOST_POINTS} more" if len(shown) > MOST_POINTS else ""
            yield f"no measured run of {one.chip} at any point of {other.chip}: {'; '.join(shown[:MOST_POINTS])}{more}"


def described(point: Sequence[Any]) -> str:
    """Return a point in words."""
    said = dict(zip(POINT, point, strict=True))
    speed = said["interactivity"]
    lengths = [said["input_length"], said["output_length"]]
    ratio = "/".join("?" if one is None else f"{one:g}" for one in lengths)
    user = None if speed is None else f"{speed:g} tok/s/user {said['interactivity_statistic'] or ''}".strip()
    return ", ".join(
        filter(
            None,
            (
                said["model_name"],
                said["scenario"],
                said["benchmark"],
                f"{said['precision_bits']} bits",
                None if lengths == [None, None] else f"lengths {ratio}",
                said["decoding"],
                user,
            ),
        )
    )


def _lacking(con: duckdb.DuckDBPyConnection, side: Side, names: Sequence[str]) -> Iterator[str]:
    """Yield why a side has no cost at all: no run, no price, or prices that nothing can be computed with."""
    runs = rows(
        con,
        "select model_name, count(*) as n from int.throughput where accelerator_name = $chip and task <> 'training' "
        "and unit_of_work = 'token' and is_ranked group by model_name order by 1",
        {"chip": side.accelerator_name},
    )
    asked = [run for run in runs if run["model_name"] in names]
    if not names:
        yield f"no model is named, so that no run of {side.chip} is looked at"
    elif not runs:
        yield f"no measured run of {side.chip} at this point, nor at any other"
    elif not asked:
        models_measured = ", ".join(run["model_name"] for run in runs)
        yield f"no measured run of {side.chip} at this point: it was measured with {models_measured} alone"
    priced = rows(con, f"select * from int.provider_price where {FILTER} order by last_observed_at desc", side.values)
    usable = rows(con, f"select 1 from int.cost_price where {FILTER} limit 1", side.values)
    if not priced:
        yield f"no price of {side.words}"
    elif not usable:
        told = sorted(
            {
                f"{row['cheapest_price_usd'] or row['median_price_usd']:g} USD/chip-h "
                f"({row['last_observed_at']:%Y-%m-%d}"
                f"{', a from-price, which nobody may be offered' if row['is_floor'] else ''}"
                f"{', form of the chip not stated' if row['form_factor'] is None else ''})"
                for row in priced
                if row["cheapest_price_usd"] or row["median_price_usd"]
            }
        )
        yield f"no price of {side.words} that a cost can be computed with: {'; '.join(told) or 'none in US dollars'}"
    elif asked:
        yield (
            f"no measured run of {side.chip} at this point that fits what {side.provider or 'anybody'} sells at once: "
            "too many chips, a speed out of reach, or evidence that is not ranked"
        )
