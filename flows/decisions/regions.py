"""The published file as if nothing were sold outside of the regions that a decision allows, nor other machines of AWS.

Medians, cheapest prices and costs are over all regions and machines of a chip. So the prices are cut, and the marts
that decisions read are made of them again by the same SELECTs, in memory. A price of no stated region is in none.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from flows.shared.query import columns, rows
from transform import formula, models
from warehouse.errors import SettingsError, did_you_mean
from warehouse.log.db import create_macros, create_moment, quote

CUT = "accelerator_hour_price"
DECISIONS = columns("""
option_ladder, serving_need, training_need, serving_cost, cheapest, cost_left_out, commitment_option, chip_price
""")
"""Marts and macros that decisions query, with all that these are made of."""
MAX_NAMED = 12
OUTSIDE = """
select region_id, count(*) as n_prices
from published.int.accelerator_hour_price
where is_current and not coalesce(region_id in (select region_id from allowed_region), false)
group by region_id
order by region_id nulls last
"""
LYING = """
select unnest([lower(region_id), lower(country)]) as region_id from published.ref.region
where lower($name) in (lower(country), lower(continent))
"""
ALIKE = """
select 1 from int.accelerator_hour_price as a
semi join (from int.accelerator_hour_price where service_provider_name = 'AWS' and instance_type = $machine) as m
    on a.accelerator_name = m.accelerator_name and a.capacity_class = m.capacity_class
where a.service_provider_name = 'AWS' and a.instance_type <> $machine and a.instance_type not like 'ml.%'
limit 1
"""
"""Whether AWS has another machine in place of which the cheapest offers of its chip may be."""
SHOWN = ("log", "core", "ref", "meta", "int")
"""Schemas of the published file that decisions read."""


@contextmanager
def opened(file: Path, regions: Sequence[str], machine: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give the published file, whole or `cut`. Raises SettingsError for a region without a price."""
    if not regions:
        with duckdb.connect(str(file), read_only=True) as con:
            if machine is None or not rows(con, ALIKE, {"machine": machine}):
                yield con
                return
    with cut(file, regions, machine) as (con, unpriced):
        for error in unpriced:
            raise error
        yield con


@contextmanager
def cut(
    file: Path, regions: Sequence[str], machine: str | None = None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[SettingsError]]]:
    """Give the published file, cut to some regions and of AWS to one machine, and refusals of unpriced regions."""
    with duckdb.connect() as con:
        con.execute(f"attach {quote(str(file))} as published (read_only)")
        allowed, unpriced = _resolved(con, regions)
        for schema in (*SHOWN, "mart"):
            con.execute(f"create schema {schema}")
        # What decisions read, at whatever remove, and prices are in, at whatever remove.
        read = {mart.name for mart in models.MARTS} & models.made_of(DECISIONS) - {CUT}
        again = {name for name in read if CUT in models.made_of([name])}
        there = con.execute(
            "select schema_name, table_name from duckdb_tables() where database_name = 'published' union all "
            "select schema_name, view_name from duckdb_views() where database_name = 'published' and not internal"
        ).fetchall()
        for schema, name in there:
            if (schema, name) != ("int", CUT) and not (schema == "int" and name in again) and schema in SHOWN:
                con.execute(f"create view {schema}.{name} as from published.{schema}.{name}")
        con.execute("create table allowed_region as select unnest(?::VARCHAR[]) as region_id", [allowed])
        con.execute(
            f"create table int.{CUT} as from published.int.{CUT} where ($is_everywhere or region_id in "
            "(from allowed_region)) and coalesce(service_provider_name <> 'AWS' or instance_type = $machine, true)",
            {"is_everywhere": not regions, "machine": machine},
        )
        formula.create_formulas(con)
        create_macros(con)
        create_moment(con)
        for mart in models.MARTS:
            if mart.name in again:
                con.execute(f"create {'table' if mart.is_table else 'view'} int.{mart.name} as {mart.sql}")
        for macro in models.MACROS:
            con.execute(f"create macro mart.{macro.name}({', '.join(macro.parameters)}) as table {macro.sql}")
        yield con, unpriced


def as_dict(con: duckdb.DuckDBPyConnection, regions: Sequence[str]) -> dict[str, Any]:
    """Return the regions that a file was `opened` with, and how many current prices each other one has, NULL last."""
    return {"allowed": list(regions), "left_out": rows(con, OUTSIDE) if regions else []}


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the regions of an answer as a line of text; none where all are allowed."""
    if not found["allowed"]:
        return
    stated = [each for each in found["left_out"] if each["region_id"] is not None]
    named = [f"{each['region_id']} ({each['n_prices']})" for each in stated[:MAX_NAMED]]
    if rest := stated[MAX_NAMED:]:
        named.append(f"{len(rest)} more ({sum(each['n_prices'] for each in rest)})")
    named += [f"no region stated ({each['n_prices']})" for each in found["left_out"] if each["region_id"] is None]
    yield f"Regions: only {', '.join(found['allowed'])}. Current prices left out: {', '.join(named) or 'none'}."


def _resolved(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> tuple[list[str], list[SettingsError]]:
    """Return regions as providers name them, and the refusals of those without a price.

    A country (DE) or a continent (Europe) stands for those of ref.region, and for countries, as marketplaces have.
    """
    found = rows(con, f"select distinct region_id from published.int.{CUT} where region_id is not null order by 1")
    known = [row["region_id"] for row in found]
    allowed: dict[str, None] = {}
    unpriced = []
    for name in names:
        lying = rows(con, LYING, {"name": name})
        meant = {name.lower(), *(row["region_id"] for row in lying)}
        places = [each for each in known if each.lower() in meant]
        if not places:
            hint = did_you_mean(name, known, "`DE` and `Europe` stand for all regions there")
            message = "no price is of this region"
            unpriced.append(SettingsError(message, field="decision.regions", value=name, hint=hint))
        allowed.update(dict.fromkeys(places))
    return list(allowed), unpriced
