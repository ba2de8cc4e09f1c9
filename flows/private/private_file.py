"""The private file, `private.duckdb`: what the user pays and runs, next to the published file and never in it.

Pages, feeds, mails' tables and exports read the published file alone, so nothing of this can be in them. It is built
after each publication from the files that [private] of the settings names, readable by its owner only.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import duckdb

from flows.config.settings import PrivateSettings, Settings
from flows.private import fleet_file
from flows.private import names as private_names
from flows.private import prices as private_prices
from flows.private.fleet_file import LINE_COLUMNS
from flows.private.prices import RULE_COLUMNS
from flows.shared import folders, user_file
from transform import private as tables
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.landing.folder import Landing
from warehouse.log.db import insert_rows, quote
from warehouse.log.events import naive
from warehouse.publish.published_file import make_whole
from warehouse.schema.columns import private_columns
from warehouse.schema.dictionary import dictionary_of, write_dictionary

FILE_NAME = "private.duckdb"
SOURCE = "private"
MODE = 0o600


def build(settings: Settings, built_at: datetime) -> Path | None:
    """Build the private file from the published one and the user's files; return its path, None where none is named.

    Where no file is named any more, the private file goes. Raises ChipledgerError where one is wrong; then the last
    private file stays. The caller holds the writer's lock.
    """
    target = settings.data_dir / FILE_NAME
    documents = _documents(settings.private, built_at)
    if not documents:
        target.unlink(missing_ok=True)
        return None
    landing = Landing(settings.data_dir / "landing")
    for document in documents.values():
        landing.store(document, mode=MODE)

    def made(part: Path) -> None:
        # From its first byte on the file is its owner's alone.
        with folders.as_user(alone=True), duckdb.connect(str(part)) as con:
            con.begin()
            _fill(con, settings.published(), documents, built_at)
            con.commit()

    return make_whole(target, build=made, verify=_verify, mode=MODE)


@contextmanager
def in_memory(settings: Settings, now: datetime) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database in memory with the tables of the private file, made now from the user's files as they are.

    Raises ChipledgerError where none is named, or one is wrong.
    """
    documents = _documents(settings.private, now)
    if not documents:
        hint = 'Write [private] with fleet = "fleet.csv"; docs/fleet.md shows one'
        raise SettingsError("no private file is named", source="chipledger.toml", field="private", hint=hint)
    with duckdb.connect() as con:
        _fill(con, settings.published(), documents, now)
        yield con


def _fill(
    con: duckdb.DuckDBPyConnection, published: Path, documents: Mapping[str, Document], built_at: datetime
) -> None:
    """Attach the published file as `prices`, and make the tables of the user's files in the database in use."""
    con.execute("set timezone = 'UTC'")
    con.execute(f"attach {quote(str(published))} as prices (read_only)")
    names = private_names.read(con)
    prices, fleet = documents.get("prices"), documents.get("fleet")
    rules = private_prices.read(prices.scope, prices.body, names) if prices else []
    lines = fleet_file.read(fleet.scope, fleet.body, names) if fleet else []
    con.execute(
        "create table build as select ?::TIMESTAMP as built_at, b.built_at as prices_built_at, ?::VARCHAR as version, "
        "?::VARCHAR as prices_sha256, ?::VARCHAR as fleet_sha256 from prices.meta.build as b",
        [naive(built_at), version("chipledger"), prices.sha256 if prices else None, fleet.sha256 if fleet else None],
    )
    _make(con, "table price_rule", RULE_COLUMNS, rules)
    _make(con, "temp table fleet_input", LINE_COLUMNS, lines)
    for table in tables.TABLES:
        con.execute(f"create {'temp ' if table.is_step else ''}table {table.name} as {table.sql}")
        if table.name == "rule_match" and prices:
            _refuse_ties(con, prices.scope)
    _describe(con)


def _documents(named: PrivateSettings, at: datetime) -> dict[str, Document]:
    """Return the files that are named, as they are now. Raises ChipledgerError where one cannot be read."""
    found = {}
    for name, path in (("prices", named.prices), ("fleet", named.fleet)):
        if path is not None:
            try:
                body = user_file.read(path, most=user_file.SMALL_BYTES)
            except ChipledgerError as error:
                error.hint = "Correct the name in [private] of the settings, or take it out"
                raise
            found[name] = Document(source=SOURCE, scope=path.name, url=path.name, body=body, fetched_at=at)
    return found


def _make(con: duckdb.DuckDBPyConnection, what: str, columns: Sequence[str], rows: Sequence[object]) -> None:
    """Make a table of what was read; its types are those of the columns that it becomes."""
    known = private_columns()
    con.execute(f"create {what} ({', '.join(f'{name} {known[name].type}' for name in columns)})")
    insert_rows(con, what.split()[-1], [tuple(getattr(row, name) for name in columns) for row in rows])


def _refuse_ties(con: duckdb.DuckDBPyConnection, file: str) -> None:
    """Raise where two rules fit one thing and neither names more: nothing says which one counts."""
    tie = con.execute(
        "select list_sort(list(rule)) as rules, min(r.place), max(r.place) from rule_match "
        "inner join price_rule as r using (rule) group by thing, thing_id having count(*) > 1 order by all limit 1"
    ).fetchone()
    if tie:
        message = f"{tie[1]} and {tie[2]}: both fit one offer, and neither names all that the other does"
        hint = "Write one more rule that names what both name, or end one of them"
        raise ChipledgerError(message, source=file, field="rule", value=", ".join(tie[0]), hint=hint)


def _describe(con: duckdb.DuckDBPyConnection) -> None:
    """Put a COMMENT on every table and column, and the same words into main.data_dictionary."""
    made = con.execute(
        "select 'main', table_name, column_name, data_type, false from duckdb_columns() "
        "where database_name = current_database() and schema_name = 'main' order by table_name, column_index"
    ).fetchall()
    rows = tables.READ | {table.name: table.row for table in tables.TABLES}
    comments, dictionary = dictionary_of(made, {f"main.{name}": row for name, row in rows.items()}, private_columns())
    write_dictionary(con, "main", comments, dictionary)


CHECKS = (
    (
        "a line of the fleet has neither an offer nor a reason",
        "select line_number from fleet_cost where list_usd_per_month is null and reason is null",
    ),
    ("duplicate line of the fleet", "select line_number from fleet_cost group by all having count(*) > 1"),
    (
        "a price without its rule",
        "select line_number from fleet_cost where contracted_price_per_node_hour is not null and rule is null",
    ),
    ("an offer has two contracted prices", "select offer_id from contracted_price group by all having count(*) > 1"),
)
"""What must hold of every private file: each is a name and a SELECT that must give no row."""


def _verify(part: Path) -> None:
    """Open the finished file anew, as a reader would, and run every check."""
    with duckdb.connect(str(part), read_only=True) as con:
        for name, query in CHECKS:
            if con.execute(f"{query} limit 1").fetchone():
                raise ChipledgerError(f"not built: {name}", source=FILE_NAME, field="check", value=name)
