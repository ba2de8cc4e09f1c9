"""Write docs/data-dictionary.md: every table, view and macro of the published file, and what each column means.

    python tools/data_dictionary.py
    python tools/data_dictionary.py --file data/prices.duckdb

Tables and their columns are read from a file, made by a run over the offline archive where none is named; the words are
those of warehouse/schema/columns.csv, which are the file's own comments too.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402

from warehouse.schema.columns import Column, columns, focus_columns  # noqa: E402
from warehouse.schema.dictionary import DEPRECATED  # noqa: E402

DOCUMENT = ROOT / "docs" / "data-dictionary.md"
HEAD = """\
# Data dictionary

Made by `python tools/data_dictionary.py` from the published file and `warehouse/schema/columns.csv`. The same words
stand in
the file: in `mart.data_dictionary`, and as comments on tables and columns. A column means the same wherever its name
stands. Amounts are in the unit given, times are UTC, and NULL is unknown, never 0.
"""
KINDS = {
    "mart": "Tables",
    "int": "What they are made of",
    "ref": "Reference tables",
    "focus": "FOCUS",
    "core": "The log and its facts",
}
TABLES = """
select schema_name, table_name as name, comment, null as parameters from duckdb_tables()
where database_name = current_database()
union all
select schema_name, view_name, comment, null from duckdb_views() where database_name = current_database()
union all
select schema_name, function_name, comment, parameters from duckdb_functions()
where function_type = 'table_macro' and not internal and database_name = current_database()
order by 1, 2
"""
COLUMNS_OF = """
select column_name from duckdb_columns()
where database_name = current_database() and schema_name = ? and table_name = ? order by column_index
"""
MACRO_COLUMNS = "select column_name from mart.data_dictionary where table_schema = ? and table_name = ? order by rowid"


def page(file: Path) -> str:
    """Return the text of the page for a published file."""
    return "\n".join(lines(file)) + "\n"


def lines(file: Path) -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    used: set[str] = set()
    with duckdb.connect(str(file), read_only=True) as con:
        tables = con.execute(TABLES).fetchall()
        examples = dict(con.execute("select name, example from meta.model where example is not null").fetchall())
        for schema, title in KINDS.items():
            yield f"## {title}\n"
            for table_schema, name, comment, parameters in tables:
                if table_schema != schema or (parameters is not None and not comment):
                    continue  # macros without a comment are how others are made
                if (comment or "").startswith(DEPRECATED):
                    continue
                asked = f"({', '.join(parameters)})" if parameters is not None else ""
                of = COLUMNS_OF if parameters is None else MACRO_COLUMNS
                names = [column for (column,) in con.execute(of, [schema, name]).fetchall()]
                yield f"### {schema}.{name}{asked}\n"
                yield f"{comment}.\n"
                if names:
                    yield ", ".join(f"`{column}`" for column in names) + "\n"
                if example := examples.get(f"{schema}.{name}"):
                    yield f"```sql\n{example};\n```\n"
                used.update(names)
    yield "## Columns\n"
    yield from _table(column for name, column in sorted(columns().items()) if name in used)
    yield "\n## Columns of FOCUS SkuPrice\n"
    yield from _table(column for name, column in focus_columns().items() if name in used)


def _table(columns: Iterator[Column]) -> Iterator[str]:
    yield "| column | type | unit | meaning |"
    yield "| --- | --- | --- | --- |"
    for column in columns:
        meaning, unit = (text.replace("|", "\\|").replace("<", "&lt;") for text in (column.meaning, column.unit))
        yield f"| `{column.name}` | {column.type} | {unit} | {meaning} |"


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--file", type=Path, help="a published file with all marts")
    args = parser.parse_args()
    if args.file:
        DOCUMENT.write_text(page(args.file), encoding="utf-8")
        return 0
    from flows.collect import steps
    from flows.config.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        chosen = Settings(data_dir=Path(folder))
        steps.run(chosen, offline=True)
        DOCUMENT.write_text(page(chosen.published()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
