"""The tables of facts of the package, as a published file has them: ref... and the shipped rows of core.throughput."""

from typing import Any

import duckdb

from warehouse.frames import shown
from warehouse.reference import accelerator_facts, claims, models, price_bands, source_terms, throughput
from warehouse.reference.table import Model, Rule, fields_of_columns
from warehouse.schema.tables import REFERENCE_TABLES, ddl, table_named

PURCHASE_TERMS = Model(
    file="purchase_term.csv",
    key="purchase_option",
    fields=fields_of_columns(
        table_named("ref.purchase_term").columns,
        ("service_provider_name", "purchase_option", "source_url", "accessed_on"),
    ),
    may_be_zero=("lead_time_hours", "shortest_term_hours", "longest_term_hours"),
    rules=(
        Rule("shortest_term_hours", "longer than longest_term_hours", "shortest_term_hours <= longest_term_hours"),
        Rule(
            "source_url",
            "no public address to check the fact at",
            r"regexp_like(source_url, '^https://\S+( +https://\S+)*$')",
        ),
    ),
    unique=("service_provider_name", "purchase_option", "commitment_discount_type", "offering_class", "known_from"),
    repeated="a second row for the same option and known_from",
)
"""What each purchase option promises, one option a row; only the published file has this table."""
REGIONS = Model(
    file="region.csv",
    key="region_id",
    fields=fields_of_columns(table_named("ref.region").columns, {*table_named("ref.region").columns} - {"country"}),
    unique=("service_provider_name", "region_id"),
    repeated="a second row for the same region",
    rules=(Rule("country", "no ISO 3166-1 code of two letters", "regexp_like(country, '^[A-Z]{2}$')"),),
)
"""In which country and continent each region lies; a region may be a continent."""
TRUTH_RULES = Model(
    file="truth_rule.csv",
    key="check_name",
    fields=fields_of_columns(
        table_named("ref.truth_rule").columns,
        {*table_named("ref.truth_rule").columns} - {"limit_low", "limit_high"},
    ),
    may_be_zero=("limit_high",),
    may_be_negative=("limit_low",),
    unique=("check_name",),
    repeated="a second row for the same check",
    rules=(Rule("limit_low", "above limit_high", "limit_low <= limit_high"),),
)
"""Which truth checks there are, and between which limits each holds."""


def create(con: duckdb.DuckDBPyConnection) -> None:
    """Make the reference tables in the database in use, and fill core.throughput, from the package's data."""
    import polars as pl

    facts = accelerator_facts.read_table()
    tables: tuple[Any, ...] = (
        facts,
        accelerator_facts.wide(facts),
        list(models.core_rows(models.read_table())),
        [tuple(row.values()) for row in PURCHASE_TERMS.read()],
        price_bands.read_table(),
        source_terms.read_table(),
        [tuple(row.values()) for row in REGIONS.read()],
        [tuple(row.values()) for row in TRUTH_RULES.read()],
        [claims.core_row(claim) for claim in claims.shipped()],
        throughput.catalogue_rows(),
    )
    for table, rows in zip((*REFERENCE_TABLES, throughput.CORE), tables, strict=True):
        if table in REFERENCE_TABLES:
            con.execute(ddl(table))
        # As texts, which DuckDB reads from a frame five times as fast as from JSON.
        texts = ([None if cell is None else str(cell) for cell in column] for column in zip(*rows, strict=True))
        named = zip(table.columns, texts, strict=True)
        with shown(con, "texts", pl.DataFrame([pl.Series(name, cells, pl.String) for name, cells in named])):
            con.execute(f"insert into {table.qualified} by name from texts")
