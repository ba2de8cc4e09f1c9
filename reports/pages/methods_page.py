"""The page of methods: every formula and the SQL of every mart, read from the catalogue of the published file."""

import re
from functools import partial

from reports import wording
from reports.pages.frame import frame
from reports.queries import Published, marts
from reports.tables.table import outside

SCHEMAS = {
    "cost": ("Cost of a token", "Called by the marts of cost and by `chipledger cost`."),
    "physics": ("Physics", "What a chip can do at most, whatever somebody says."),
    "decision": ("Decisions", "When buying pays, and against what."),
    "core": ("History", "How prices are read out of the log."),
}
CHECKS = ("int.truth_", "int.disagreement")
EXCLUDED = re.compile(r"(?<=EXCLUDE \()[^()]+")
ELSE = re.compile(r"\|\| \w+\)\)\) ELSE (?P<formula>.*) END$", re.DOTALL)


def render(published: Published) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    _, version = published.build
    macros = published.ask("formula")
    found = published.ask("misdeclared") if "throughput" in marts(published.con) else []
    has_backtest = "price_backtest" in {row["macro_name"] for row in macros}
    errors = "from mart.price_backtest([3, 6, 12, 24]) order by months"
    backtest = published.query(errors) if has_backtest else []
    misdeclared = [{**row, "link": outside("the run", row["shown_by"]["source_url"])} for row in found]
    formulas = [
        {**row, **dict(zip(("formula", "refused"), split_formula(row["definition"]), strict=True))}
        for row in macros
        if row["kind"] == "macro"
    ]
    others = sorted({row["schema_name"] for row in formulas} - {*SCHEMAS})
    schemas = [
        (name, *SCHEMAS.get(name, (name, "")), rows)
        for name in (*SCHEMAS, *others)
        if (rows := [row for row in formulas if row["schema_name"] == name])
    ]
    return frame(
        "methods.html.j2",
        n_formulas=len(formulas),
        place="methods.html",
        build=(None, version),
        schemas=schemas,
        misdeclared=misdeclared,
        backtest=backtest,
        macros=[{**row, "definition": in_order(row["definition"])} for row in macros if row["kind"] == "table_macro"],
    )


def render_tables(published: Published, *, of_checks: bool = False) -> str:
    """Return the page of the SQL of every mart of a published file; the same file gives the same bytes.

    The marts of truth checks are a page of their own (`of_checks`), so that each page is light.
    """
    _, version = published.build
    models = [row for row in published.ask("model") if row["model_name"].startswith(CHECKS) == of_checks]
    title, place = ("Tables of checks", "tables-checks.html") if of_checks else ("Tables", "tables.html")
    return frame(
        "tables.html.j2",
        title=title,
        headline=f"{wording.count(len(models), 'table')}{' of truth checks' if of_checks else ''}, each one SELECT",
        place=place,
        build=(None, version),
        of_checks=of_checks,
        models=models,
    )


render_check_tables = partial(render_tables, of_checks=True)
"""The page of the SQL of the marts of truth checks."""


def in_order(definition: str) -> str:
    """Return a SELECT with the columns it leaves out in order: DuckDB may turn them round when it writes them again."""
    return EXCLUDED.sub(lambda found: ", ".join(sorted(found[0].split(", "))), definition)


def split_formula(definition: str) -> tuple[str, list[str]]:
    """Return the formula of a macro as the catalogue has it, and what it refuses, as two things.

    `CASE WHEN (x <= 0) THEN error('f: x must be above 0, not ' || x) ELSE x * 2 END` is `x * 2` and ["x must be above
    0"]. A text of another form comes back whole.
    """
    formula = ELSE.search(definition)
    if not definition.startswith("CASE") or formula is None or "error" not in definition:
        return definition, []
    refused = re.findall(r"'\w+: ([^']*?), not '", definition[: formula.start()])
    return formula["formula"], refused
