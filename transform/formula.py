"""Formulas as SQL macros: each stands once, in a file of its own, and is called from everywhere.

A file is a comment (formula, symbols, units, source) and one SELECT in which the parameters stand as names. `create`
makes scalar macros of them in a schema, in the published file or in any DuckDB. A macro gives NULL where an input is
NULL, and an error that names macro and parameter where one is outside of what it may be.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files

import duckdb

from warehouse.log.db import quote

SQL = files("transform") / "sql"
SELECT = re.compile(r"^select\s+(?P<expression>.+?)\s+as\s+(?P<result>\w+)\s*$", re.DOTALL | re.MULTILINE)


class Domain(Enum):
    """What a parameter may be: the condition after its name, and the same in words."""

    POSITIVE = "> 0", "above 0"
    NOT_NEGATIVE = ">= 0", "0 or more"
    SHARE = "between 0 and 1", "from 0 to 1"
    ANY = "", "anything"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a formula: its name, what it is and in which unit, what it may be, and its default if any."""

    name: str
    meaning: str
    domain: Domain = Domain.POSITIVE
    default: str | None = None

    @property
    def declaration(self) -> str:
        """Return the parameter as it stands in CREATE MACRO."""
        return self.name if self.default is None else f"{self.name} := {self.default}"


@dataclass(frozen=True)
class Formula:
    """One scalar macro: its schema, its name, what it gives and in which unit, and its parameters."""

    schema: str
    name: str
    meaning: str
    parameters: tuple[Parameter, ...]

    @property
    def sql(self) -> str:
        """Return the text of the formula's file."""
        return (SQL / self.schema / f"{self.name}.sql").read_text()

    @property
    def expression(self) -> str:
        """Return the formula itself, without comment and SELECT. Raises ValueError where the file has another form."""
        match = SELECT.search(self.sql)
        if match is None:
            raise ValueError(f"{self.schema}/{self.name}.sql is not one SELECT of one named expression")
        return match["expression"]

    @property
    def definition(self) -> str:
        """Return the statement that creates the macro, which refuses what is out of a parameter's domain."""
        refusals = "".join(
            f"when not ({parameter.name} {parameter.domain.value[0]}) "
            f"then error({quote(f'{self.name}: {parameter.name} must be {parameter.domain.value[1]}, not ')} "
            f"|| {parameter.name}) "
            for parameter in self.parameters
            if parameter.domain is not Domain.ANY
        )
        body = f"case {refusals}else {self.expression} end" if refusals else self.expression
        parameters = ", ".join(parameter.declaration for parameter in self.parameters)
        return f"create or replace macro {self.schema}.{self.name}({parameters}) as {body}"


def create(con: duckdb.DuckDBPyConnection, formulas: Sequence[Formula]) -> None:
    """Make the macros, each with a comment, and their schemas, in the database in use; each after those it needs."""
    for schema in sorted({formula.schema for formula in formulas}):
        con.execute(f"create schema if not exists {schema}")
    for formula in formulas:
        con.execute(formula.definition)
        con.execute(f"comment on macro {formula.schema}.{formula.name} is {quote(formula.meaning)}")
