"""Formulas of physics, cost and decisions as SQL macros: each is defined in one file and called from everywhere.

A file is a comment and one SELECT in which the parameters are names. The comment begins with the declaration,
`name(parameter condition := default, ...): what it gives, in which unit.`; formula, symbols and source follow. A macro
gives NULL where an input is NULL, and an error that names macro and parameter where one is outside its domain.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files

import duckdb

from warehouse.log.db import quote

SQL = files("transform") / "sql"
SCHEMAS = ("physics", "cost", "decision")
_DECLARATION = re.compile(r"(?P<name>\w+)\((?P<parameters>.*?)\): (?P<meaning>.+?)\.(?: |$)")
_SELECT = re.compile(r"^select\s+(?P<expression>.+?)\s+as\s+(?P<result>\w+)\s*$", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"\b(\w+\.\w+)\(")


class Domain(Enum):
    """What a parameter may be: the condition after its name, and the same in words."""

    POSITIVE = "> 0", "above 0"
    NOT_NEGATIVE = ">= 0", "0 or more"
    SHARE = "between 0 and 1", "from 0 to 1"
    ANY = "", "anything"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a formula: its name, what it may be, and its default if any."""

    name: str
    domain: Domain = Domain.POSITIVE
    default: str | None = None

    @property
    def declaration(self) -> str:
        """Return the parameter as it is in CREATE MACRO."""
        return self.name if self.default is None else f"{self.name} := {self.default}"


@dataclass(frozen=True)
class Formula:
    """One scalar macro: its schema, its name, what it gives and in which unit, its parameters, and its file's text."""

    schema: str
    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    sql: str

    @property
    def expression(self) -> str:
        """Return the formula itself, without comment and SELECT. Raises ValueError where the file has another form."""
        match = _SELECT.search(self.sql)
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


def read(schema: str, name: str, sql: str) -> Formula:
    """Return the formula of a file's text. Raises ValueError where its comment does not begin with its declaration."""
    lines = sql.partition("\nselect")[0].splitlines()
    match = _DECLARATION.match(" ".join(line.removeprefix("--").strip() for line in lines))
    domains = {each.value[0]: each for each in Domain}
    parameters = []
    for text in match["parameters"].split(", ") if match and match["parameters"] else ():
        declared, _, default = text.partition(" := ")
        parameter, _, condition = declared.partition(" ")
        if condition not in domains:
            raise ValueError(f"{schema}/{name}.sql: {text!r} has none of the conditions {', '.join(domains)}")
        parameters.append(Parameter(parameter, domains[condition], default or None))
    if match is None or match["name"] != name:
        raise ValueError(f"{schema}/{name}.sql does not begin with '-- {name}(parameters): meaning.'")
    return Formula(schema, name, match["meaning"], tuple(parameters), sql)


@cache
def formulas() -> tuple[Formula, ...]:
    """Return every formula, schema by schema, each after those that it calls."""
    found = {
        f"{schema}.{file.name.removesuffix('.sql')}": read(schema, file.name.removesuffix(".sql"), file.read_text())
        for schema in SCHEMAS
        for file in sorted((SQL / schema).iterdir(), key=lambda file: file.name)
    }
    ordered: dict[str, Formula] = {}

    def add(name: str) -> None:
        for other in _CALL.findall(found[name].expression):
            if other in found and other not in ordered:
                add(other)
        ordered[name] = found[name]

    for name in found:
        if name not in ordered:
            add(name)
    return tuple(ordered.values())


def statements() -> list[str]:
    """Return the statements that make the schemas and the macros, each with a comment."""
    made = [f"create schema if not exists {schema}" for schema in SCHEMAS]
    for formula in formulas():
        made += [formula.definition, f"comment on macro {formula.schema}.{formula.name} is {quote(formula.meaning)}"]
    return made


def create_formulas(con: duckdb.DuckDBPyConnection) -> None:
    """Make the macros, each with a comment, and their schemas, in the database in use."""
    con.execute("; ".join(statements()))
