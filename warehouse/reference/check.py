"""The pandera model of a reference table: made of its fields, of the declared columns, and of its own rules.

Imported only where a file is checked: pandera takes a second to import.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

import pandera.polars as pa
import polars as pl

from warehouse.reference.table import Model, Values
from warehouse.schema.columns import columns

TYPES = {str: pl.String, int: pl.Int64, Decimal: pl.Float64, date: pl.Date, bool: pl.Boolean}


def first_broken(rows: Sequence[Values], model: Model) -> tuple[int, str, str] | None:
    """Return the first row that a model refuses, with field and reason; None where it refuses none."""
    types = {name: _type(type_) for name, type_ in model.fields.items()}
    frame = pl.DataFrame([[row[name] for name in types] for row in rows], schema=types, orient="row", strict=False)
    try:
        pandera_model(model).validate(frame, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.select("index", "column", "check").rows()
        index, column, check = min(cases, key=lambda case: case[0])
        field, _, reason = check.partition("|") if column is None else (column, "", check)
        return index, field, reason.format(**rows[index])
    return min(model.rows(list(rows)), key=lambda found: found[0], default=None) if model.rows else None


def pandera_model(model: Model) -> pa.DataFrameSchema:
    """Return the pandera model of a table, over its typed values."""
    checks = [
        pa.Check(partial(_holds, pl.sql_expr(rule.condition)), name=rule.field, error=f"{rule.field}|{rule.reason}")
        for rule in model.rules
    ]
    if model.unique:
        once = pl.struct(model.unique).is_first_distinct()
        checks.append(pa.Check(partial(_holds, once), error=f"{model.key}|{model.repeated}"))
    return pa.DataFrameSchema(
        {
            name: pa.Column(_type(type_), _checks(name, _type(type_), model), nullable=True)
            for name, type_ in model.fields.items()
        },
        checks=checks,
    )


def _type(type_: Any) -> Any:
    """Return the polars type of a field."""
    options = [each for each in getattr(type_, "__args__", ()) if each in TYPES]
    one = TYPES[options[0] if options else type_]
    return pl.List(one) if getattr(type_, "__origin__", None) is tuple else one


def _checks(name: str, type_: Any, model: Model) -> list[pa.Check]:
    """Return what the values of one field must be: of its vocabulary, of the form of an address, in range."""
    declared = columns().get(name)
    if type_ in (pl.Int64, pl.Float64):
        if declared and declared.unit == "share":
            return [pa.Check.in_range(0, 1, error="not from 0 to 1")]
        return [pa.Check.ge(0, error="below 0") if name in model.may_be_zero else pa.Check.gt(0, error="not above 0")]
    if type_ != pl.String or name in model.free:
        return []
    if name == "source_url":
        return [pa.Check.str_startswith("https://", error="no public address to check the fact at")]
    if declared and declared.allowed:
        return [pa.Check.isin(declared.allowed, error=f"not one of {', '.join(declared.allowed)}")]
    return []


def _holds(condition: pl.Expr, data: Any) -> pl.LazyFrame:
    frame: pl.LazyFrame = data.lazyframe
    return frame.select(condition.fill_null(value=True))
