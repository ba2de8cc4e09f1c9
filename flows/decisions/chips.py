"""Chips side by side, and what fits on them: questions to the published file behind `chips` and `fit`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from flows.shared.query import columns, rows
from warehouse.errors import SettingsError
from warehouse.reference import models
from warehouse.reference.accelerator_facts import FACTS
from warehouse.reference.instance_types import chip_named

COMPARED = columns("dense_bf16_tflops, dense_fp8_tflops, dense_fp4_tflops, memory_gb, memory_bandwidth_tb_s, tdp_w")
"""The facts that a table for people shows; the others are in --json and in ref.accelerator."""

_PRICES = """
select
    accelerator_name, form_factor, purchase_option, commitment_class, service_provider_name, cheapest_price_usd,
    price_per_pflop_hour, price_per_bf16_pflop_hour, price_per_tb_s_hour, price_per_gb_hour, last_observed_at,
    is_current, is_ranked
from int.chip_price where purchase_option is not null
order by accelerator_name, form_factor, purchase_option, commitment_class
"""
_DISPUTED = """
from ref.accelerator_fact
qualify max(fact_rank) over (partition by accelerator_name, form_factor, fact) > 1
order by accelerator_name, form_factor, fact, fact_rank
"""
"""Facts of which sources say two things."""
COST = columns("accelerator_name, place, usd_per_million_output_tokens, cost_basis, price_of, measured_on")
"""What a table for people shows of a cost."""
FIT = columns("""
accelerator_name, form_factor, weight_precision, memory_needed_gb, accelerators_needed, accelerators_used,
unit_accelerators, headroom_gb, output_rate_bound, binding_bound, ran_on, unknown_reason
""")
"""What a table for people shows of a chip that a model runs on."""
_COSTS = """
select
    t.accelerator_name, p.model_name, t.place, t.usd_per_million_output_tokens, t.cost_basis, t.service_provider_name,
    t.last_observed_at::DATE as price_of, p.scenario, p.precision, p.decoding, p.interactivity, t.most_accelerators,
    t.software, t.measured_by, t.measured_on, t.evidence_grade, t.offer_id
from int.headline_token_cost as t cross join int.headline_point as p
where t.option_kind = 'on_demand'
order by t.accelerator_name, t.usd_per_million_output_tokens nulls last
"""
"""What a million output tokens costs on demand at the front page's point, at AWS and elsewhere, or why not."""


def compare(file: Path, names: Sequence[str], *, base: str | None) -> dict[str, list[dict[str, Any]]]:
    """Return what is known of chips (all without `names`): facts, ratios to `base`, disagreements, prices, token costs.

    A name is any that providers use, with or without a form: "h100", "H100 SXM". Raises SettingsError for
    one that is no chip, or of which nothing is published.
    """
    wanted = [chip_named(name) for name in names]
    against = chip_named(base) if base else None
    with duckdb.connect(str(file), read_only=True) as con:
        facts = rows(con, "from ref.accelerator order by accelerator_name, form_factor nulls first")
        prices = rows(con, _PRICES)
        disputed = rows(con, _DISPUTED)
        costs = rows(con, _COSTS)
    for one in filter(None, (*wanted, against)):
        if not any(_is(row, one) for row in facts):
            hint = "`chipledger chips` lists the known ones"
            value = " ".join(filter(None, one))
            raise SettingsError("nothing is published of this chip here", field="chip", value=value, hint=hint)
    chosen = [row for row in facts if not wanted or any(_is(row, one) for one in wanted)]
    names_of = {(row["accelerator_name"], row["form_factor"]) for row in chosen}
    formless = names_of | {(name, None) for name, _ in names_of}
    base_row = next((row for row in facts if against and _is(row, against)), None)
    return {
        "chips": chosen,
        "against": [base_row] if base_row else [],
        "ratios": [_ratio(row, base_row) for row in chosen] if base_row else [],
        "prices": [row for row in prices if (row["accelerator_name"], row["form_factor"]) in names_of],
        "costs": [row for row in costs if row["accelerator_name"] in {name for name, _ in names_of}],
        "disagreements": [row for row in disputed if (row["accelerator_name"], row["form_factor"]) in formless],
    }


def fit(file: Path, *, model: str, precision: str | None, context: int, batch: int) -> list[dict[str, Any]]:
    """Return one row a chip and form: how many run the model, how fast they can generate at most, and a run as proof.

    Raises ChipledgerError for a model that is not known, and a context that it does not take.
    """
    values = {"model": model_named(model), "precision": precision, "context": context, "batch": batch}
    sql = (
        "from mart.fit($model, $precision, $context, $batch) "
        "order by accelerators_needed nulls last, output_rate_bound desc"
    )
    with duckdb.connect(str(file), read_only=True) as con:
        return rows(con, sql, values, field="fit")


def in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `fit` with counts as they are read, and its measured run; None where none is known."""
    names = [name for name in FIT if "accelerators" in name and row[name]]
    counts = {name: f"{row[name]:g}" for name in names}
    ran = row["measured_accelerators"]
    words = ran and f"{ran.normalize():f} x {row['measured_precision']}, {row['measured_on']}, {row['source_url']}"
    return {**row, **counts, "ran_on": words}


def model_named(text: str) -> str:
    """Return the name of the model that a text names. Raises ChipledgerError for an unknown one."""
    known = models.find(text)
    if known is None:
        raise models.unknown(text)
    return known.model_name


def _is(row: dict[str, Any], chip: tuple[str, str | None]) -> bool:
    """Return whether a row is of a chip; one without a form is any of its forms, "A100" one of any memory."""
    names = row["accelerator_name"], row["accelerator_name"].rpartition("-")[0]
    return chip[0] in names and (chip[1] is None or row["form_factor"] in (chip[1], None))


def _ratio(row: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Return each fact divided by that of the base; None where either is unknown."""
    ratios = {
        name: float(row[name] / base[name]) if row[name] is not None and base[name] else None
        for name in FACTS
        if name != "release_year"
    }
    return {"accelerator_name": row["accelerator_name"], "form_factor": row["form_factor"]} | ratios
