"""A DuckDB with what physics needs: ref.accelerator, ref.model and the macros, as a reader has them."""

import duckdb

from transform.formula import create_formulas
from transform.models import MACROS
from warehouse.log.db import insert_rows
from warehouse.reference import accelerator_facts, models
from warehouse.schema.tables import table_named

FIT = next(macro for macro in MACROS if macro.name == "fit")
TEXTS = ("model_name", "aliases", "modality", "release_url", "note", "source_url", "accessed_on")


def physics_file() -> duckdb.DuckDBPyConnection:
    """Return a connection to such a file in memory."""
    con = duckdb.connect()
    con.execute("create schema ref; create schema mart")
    facts = ", ".join(f"{fact} DECIMAL(12,6)" for fact in accelerator_facts.FACTS)
    con.execute(f"create table ref.accelerator (accelerator_name VARCHAR, form_factor VARCHAR, {facts})")
    shape = ", ".join(f"{name} {'VARCHAR' if name in TEXTS else 'BIGINT'}" for name in table_named("ref.model").columns)
    con.execute(f"create table ref.model ({shape})")
    insert_rows(con, "ref.accelerator", accelerator_facts.wide(accelerator_facts.read_table()))
    insert_rows(con, "ref.model", list(models.core_rows(models.read_table())))
    create_formulas(con)
    con.execute("create schema int; create table int.cost_option as select * replace "
                "(unit_accelerators::DOUBLE as unit_accelerators) from (values ('H100', 'SXM', 1.0, null, 2.0), "
                "('H100', 'SXM', 2.0, null, 2.0), ('H100', 'SXM', 8.0, 'cluster', 3.0), "
                "('L4', null, 0.125, null, 1.0), ('L4', null, 8.0, null, 1.0), "
                "('Inferentia2', null, 12.0, null, 1.0), ('B200', null, 4.0, null, null)"
                ") as t (accelerator_name, chip_form_factor, unit_accelerators, network, price_usd)")  # fmt: skip
    con.execute("create table int.throughput as from (values ('llama-3-70b', 'H100', 'SXM', 8::DECIMAL(10, 4), 'fp8', "
                "'serving', true, date '2026-01-01', 'https://x.test/8', 1), ('llama-3-70b', 'H100', 'SXM', 2, 'bf16', "
                "'serving', true, date '2026-01-01', 'https://x.test/2', 2)) as t (model_name, accelerator_name, "
                "chip_form_factor, accelerator_count, precision, task, is_ranked, measured_on, source_url, "
                "throughput_id)")  # fmt: skip
    con.execute(f"create macro mart.fit({', '.join(FIT.parameters)}) as table {FIT.sql}")
    return con
