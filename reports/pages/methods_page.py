"""The page of methods: every formula and the SQL of every mart, read from the catalogue of the published file."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import duckdb

from reports import wording
from reports.pages.frame import frame, section
from reports.queries import ask

PLACE = "methods.html"
TABLES_PLACE = "tables.html"
CHECKS_PLACE = "tables-checks.html"
PRICES = (
    (
        "Price per hour",
        "unit_price per hour + upfront_price / commitment_term_hours, a year being 8760 hours",
        "What is paid once is spread over the whole term.",
    ),
    (
        "Price per chip-hour",
        "effective_hourly_price / accelerator_count",
        "Of the whole machine, its host included. Parts of a chip of unknown size have none.",
    ),
    (
        "In US dollars",
        "price_per_accelerator_hour \N{MULTIPLICATION SIGN} the ECB's reference rate",
        "Of the day, or of the ten before; without one there is no price in US dollars.",
    ),
    (
        "Against AWS",
        "cheapest_price_usd / aws_price_usd \N{MINUS SIGN} 1",
        "Same chip, form, length of commitment and capacity; both current or confirmed within 30 days.",
    ),
    (
        "Price per NeuronCore-hour",
        "price_per_accelerator_hour / neuron_cores_per_accelerator",
        "Cores as AWS counts them, of Inferentia and Trainium.",
    ),
    (
        "Change",
        "effective hourly price after / before \N{MINUS SIGN} 1",
        "It happened between the last look at the old price and the first at the new one.",
    ),
)
SCHEMAS = {
    "cost": ("Cost of a token", "Called by the marts of cost and by `chipledger cost`."),
    "physics": ("Physics", "What a chip can do at most, whatever somebody says."),
    "decision": ("Decisions", "When buying pays, and against what."),
    "core": ("History", "How prices are read out of the log."),
}
ELSE = re.compile(r"\|\| \w+\)\)\) ELSE (?P<formula>.*) END$", re.DOTALL)


def render(file: Path) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        macros = ask(con, "formula")
    formulas = [row for row in macros if row["kind"] == "macro"]
    tables = [row for row in macros if row["kind"] == "table_macro"]
    schemas = [*SCHEMAS, *sorted({row["schema_name"] for row in formulas} - {*SCHEMAS})]
    parts = [
        (name, _formulas(name, [row for row in formulas if row["schema_name"] == name]))
        for name in schemas
        if any(row["schema_name"] == name for row in formulas)
    ]
    return frame(
        title="Methods",
        headline=f"{len(formulas) + len(PRICES):,} formulas, each in one place",
        place=PLACE,
        built_at=built_at,
        version=version,
        kind="Methods",
        header=(
            "<p>Each as it stands in the published file, where it can be called. "
            f'<a href="{TABLES_PLACE}">Tables</a> has the SQL of every table that calls them.</p>'
        ),
        nav=(
            ("prices", "Prices"),
            *((name, SCHEMAS.get(name, (name,))[0]) for name, _ in parts),
            ("macros", "Tables with parameters"),
        ),
        main="\n".join((_prices(), *(part for _, part in parts), _macros(tables))),
    )


def render_tables(file: Path, *, of_checks: bool = False) -> str:
    """Return the page of the SQL of every mart of a published file; the same file gives the same bytes.

    The marts of truth checks are a page of their own (`of_checks`), so that each page is light.
    """
    with duckdb.connect(str(file), read_only=True) as con:
        built_at, version = con.execute("select built_at, version from meta.build").fetchall()[0]
        models = [row for row in ask(con, "model") if row["model_name"].startswith("int.truth_") == of_checks]
    title, place, other = ("Tables", TABLES_PLACE, f'<a href="{CHECKS_PLACE}">Tables of checks</a> has the others.')
    if of_checks:
        title, place = "Tables of checks", CHECKS_PLACE
        other = f'<a href="{TABLES_PLACE}">Tables</a> has all others.'
    return frame(
        title=title,
        headline=f"{wording.count(len(models), 'table')}{' of truth checks' if of_checks else ''}, each one SELECT",
        place=place,
        built_at=built_at,
        version=version,
        kind=title,
        header=f'<p><a href="{PLACE}">Methods</a> has the formulas that they call. {other}</p>',
        main=_tables(models),
    )


def taken_apart(definition: str) -> tuple[str, list[str]]:
    """Return the formula of a macro as the catalogue has it, and what it refuses, as two things.

    `CASE WHEN (x <= 0) THEN error('f: x must be above 0, not ' || x) ELSE x * 2 END` is `x * 2` and ["x must be above
    0"]. A text of another form comes back whole.
    """
    formula = ELSE.search(definition)
    if not definition.startswith("CASE") or formula is None or "error" not in definition:
        return definition, []
    refused = re.findall(r"'\w+: ([^']*?), not '", definition[: formula.start()])
    return formula["formula"], refused


def _prices() -> str:
    rows = "".join(
        f"<dt>{name}</dt><dd><code>{escape(text)}</code><p>{escape(words)}</p></dd>\n" for name, text, words in PRICES
    )
    return section(
        "prices",
        "Prices",
        [
            "<p>Computed in <code>int.price_history</code>, <code>int.accelerator_hour_price</code>, "
            "<code>int.price_change</code> and <code>int.provider_price</code>; "
            f'<a href="{TABLES_PLACE}">their SQL</a> says how.</p>',
            f'<dl class="formulas">\n{rows}</dl>',
        ],
    )


def _formulas(schema: str, rows: Sequence[Mapping[str, Any]]) -> str:
    title, about = SCHEMAS.get(schema, (schema, ""))
    listed = []
    for row in rows:
        formula, refused = taken_apart(row["definition"])
        said = f"<p>Refuses: {escape('; '.join(refused))}.</p>" if refused else ""
        listed.append(
            f'<dt id="f-{escape(row["macro_name"])}">{escape(row["meaning"] or row["macro_name"])}</dt>'
            f"<dd><code>{escape(schema)}.{escape(row['macro_name'])}({escape(', '.join(row['parameters']))})</code>"
            f'<pre tabindex="0"><code>{escape(formula)}</code></pre>{said}</dd>\n'
        )
    words = re.sub("`(.*?)`", r"<code>\1</code>", escape(about))
    return section(schema, title, [f"<p>{words}</p>", f'<dl class="formulas">\n{"".join(listed)}</dl>'])


def _tables(models: Sequence[Mapping[str, Any]]) -> str:
    listed = "".join(_folded(row["model_name"], row["row_meaning"], row["sql"], row["example"]) for row in models)
    return section(
        "tables",
        "Tables",
        [
            "<p>Query the tables of <code>mart</code>; those of <code>int</code> are what they are made of. "
            "<code>mart.data_dictionary</code> has the meaning and unit of every column, and "
            "<code>meta.model</code> these texts.</p>",
            listed,
        ],
    )


def _macros(tables: Sequence[Mapping[str, Any]]) -> str:
    listed = "".join(
        _folded(
            f"{row['schema_name']}.{row['macro_name']}({', '.join(row['parameters'])})",
            row["meaning"],
            row["definition"],
        )
        for row in tables
    )
    return section(
        "macros",
        "Tables with parameters",
        ["<p>For questions with numbers of one's own.</p>", listed or "<p>None.</p>"],
    )


def _folded(name: str, meaning: str | None, sql: str, example: str | None = None) -> str:
    words = f": {escape(meaning)}." if meaning else ""
    asked = f'<p>Example:</p><pre tabindex="0"><code>{escape(example)}</code></pre><p>SQL:</p>' if example else ""
    return (
        f"<details><summary>{escape(name)}{words}</summary>{asked}"
        f'<pre tabindex="0"><code>{escape(sql.strip(), quote=False)}</code></pre></details>\n'
    )
