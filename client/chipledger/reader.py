"""Opening published data, and its questions: each is one SELECT on one public table, or one macro of the file.

Two forms are read alike. A `prices.duckdb` has the tables in its schema `mart`. A folder, such as a day of a release,
has them as `<table>.parquet` or as `<table>/month=YYYY-MM/*.parquet`; its `datapackage.json` lists the files, which an
address needs, as nobody can list a folder over HTTP. Addresses are read in parts, only those that a question needs.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import duckdb
import pyarrow.parquet

if TYPE_CHECKING:
    import pandas
    import polars

TABLES = (
    "price_now", "price_history", "price_change", "price_index", "provider_price", "commitment", "spot_zone",
    "token_cost", "token_cost_history", "source_health",
)  # fmt: skip
"""The public tables."""
FILE = "prices.duckdb"
PACKAGE = "datapackage.json"
SECONDS = 60
"""How long the server of an address may take for the list of its files."""


class ReaderError(ValueError):
    """A question that cannot be answered: what is wrong, the value, and what to do."""


class Answer:
    """The rows of one question. Columns, types and units are those of the published table."""

    def __init__(self, rows: pyarrow.Table) -> None:
        self._rows = rows

    def arrow(self) -> pyarrow.Table:
        """Return the rows as Arrow: amounts that were observed as decimals, times as UTC."""
        return self._rows

    def pl(self) -> "polars.DataFrame":
        """Return the rows as a polars frame. Raises ImportError without polars."""
        import polars

        return polars.DataFrame(self._rows)

    def df(self) -> "pandas.DataFrame":
        """Return the rows as a pandas frame. Raises ImportError without pandas."""
        return self._rows.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the rows to whatever reads Arrow's C stream (https://arrow.apache.org/docs/format/CDataInterface.html)."""
        return self._rows.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    def __repr__(self) -> str:
        return f"<Answer: {len(self)} rows of {', '.join(self._rows.column_names)}>"


class Prices:
    """Published data that is open. Close it, or use it in a `with` block; every question reads the same version."""

    def __init__(self, place: str, con: duckdb.DuckDBPyConnection, files: Mapping[str, Sequence[str]] | None) -> None:
        self.place = place
        self._con = con
        self._files = files  # files of a folder by table, prices.duckdb among them; None: one published file is read
        self._seen: set[str] = set()

    def __enter__(self) -> "Prices":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<chipledger prices in {self.place}>"

    def close(self) -> None:
        """Let go of the file."""
        self._con.close()

    @property
    def built_at(self) -> datetime | None:
        """Return the moment (UTC) that ages count from; None where a folder does not say it."""
        found = self._con.execute("select built_at from memory.main.build").fetchone()
        return found[0].replace(tzinfo=UTC) if found and found[0] else None

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the public tables that are there."""
        if self._files is not None:
            return tuple(name for name in TABLES if self._files[name])
        found = self._con.execute("select table_name from duckdb_columns() where schema_name = 'mart'").fetchall()
        return tuple(name for name in TABLES if (name,) in found)

    def now(
        self, chip: str | None = None, *, provider: str | None = None, purchase_option: str | None = None
    ) -> Answer:
        """Return the last known price of each offer, in USD per chip-hour, with its age (`mart.price_now`).

        A row with `is_ranked` false is shown, and never called cheapest. Raises ReaderError for an unknown name.
        """
        return self._rows("price_now", chip=chip, provider=provider, purchase_option=purchase_option)

    def history(
        self, chip: str | None = None, *, provider: str | None = None, purchase_option: str | None = None
    ) -> Answer:
        """Return each price of each offer from `valid_from` to `valid_to` (UTC), per chip-hour (`mart.price_history`).

        Raises ReaderError for an unknown name.
        """
        order = "order by valid_from, offer_id"
        return self._rows("price_history", order, chip=chip, provider=provider, purchase_option=purchase_option)

    def cheapest(self, chip: str, *, purchase_option: str | None = None) -> Answer:
        """Return who asks least for a chip, each way to buy it apart: the ranked rows of `mart.provider_price`.

        `price_rank` 1 is the cheapest of its form, purchase option and commitment class. Raises ReaderError for an
        unknown name.
        """
        order = "and price_rank is not null order by purchase_option, commitment_class, price_rank, offer_id"
        return self._rows("provider_price", order, chip=chip, purchase_option=purchase_option)

    def token_cost(self, model: str, *, chip: str | None = None, purchase_option: str | None = None) -> Answer:
        """Return what a million output tokens of a model costs in USD, the cheapest first (`mart.token_cost`).

        `cost_rank` counts within one operating point and one way to buy. Raises ReaderError for an unknown name.
        """
        order = "order by scenario, precision, decoding, interactivity, purchase_option, commitment_class, cost_rank"
        return self._rows("token_cost", order, model=model, chip=chip, purchase_option=purchase_option)

    def as_of(self, day: str | date | datetime, chip: str | None = None) -> Answer:
        """Return what each offer cost at a moment, a day standing for its first instant in UTC (`mart.price_on`).

        Inside the window of a change `unit_price` is NULL, between `_low` and `_high`. Raises ReaderError for what is
        no day, and where only Parquet is there.
        """
        try:
            moment = day if isinstance(day, datetime) else datetime.fromisoformat(str(day))
        except ValueError as error:
            raise ReaderError(f"{day!r} is no day; write it as 2026-11-23 or 2026-11-23T09:00:00Z") from error
        moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        if self._files is not None:
            if not self._files[FILE]:
                raise ReaderError(
                    f"as_of needs {FILE}, and {self.place} has none: only the file knows windows of change"
                )
            with open(self._files[FILE][0]) as published:
                return published.as_of(moment, chip)
        wanted = {"moment": moment} | ({"chip": self._known("price_now", "accelerator_name", chip)} if chip else {})
        condition = "where accelerator_name = $chip " if chip else ""
        return self._answer(f"from mart.price_on($moment) {condition}order by offer_id", wanted)

    def table(self, name: str) -> Answer:
        """Return all rows of a public table. Raises ReaderError where there is no such table."""
        return self._rows(name)

    def units(self, table: str) -> Mapping[str, str]:
        """Return the meaning and unit of each column of a public table. Raises ReaderError where there is none."""
        self._check(table)
        asked = "select column_name, comment from memory.main.meaning where table_name = ?"
        found = self._con.execute(asked, [table]).fetchall()
        fields = [] if found or self._files is None else pyarrow.parquet.read_schema(self._files[table][0])
        return dict(found) | {field.name: field.metadata[b"comment"].decode() for field in fields if field.metadata}

    def sql(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> Answer:
        """Return the rows of one query; public tables are `mart.<name>`, and values are bound to `?` or `$name`."""
        for table in self.tables:
            if table in query:
                self._check(table)
        return self._answer(query, values)

    def _rows(self, table: str, order: str = "order by all", **named: str | None) -> Answer:
        self._check(table)
        columns = {"chip": "accelerator_name", "provider": "service_provider_name", "model": "model_name"}
        wanted = {
            columns.get(name, name): self._known(table, columns.get(name, name), value)
            for name, value in named.items()
            if value is not None
        }
        conditions = " and ".join(["true", *(f"{column} = ${column}" for column in wanted)])
        return self._answer(f"from mart.{table} where {conditions} {order}", wanted)

    def _check(self, table: str) -> None:
        if table not in self.tables:
            raise ReaderError(f"no table {table!r} in {self.place}; there are: {', '.join(self.tables)}")
        if self._files is not None and table not in self._seen:
            listed = ", ".join(_text(file) for file in self._files[table])
            try:
                self._con.execute(
                    f"create view mart.{table} as from read_parquet([{listed}], hive_partitioning = true)"
                )
            except duckdb.Error as error:
                raise ReaderError(f"{table} of {self.place} cannot be read: {str(error).splitlines()[0]}") from error
            self._seen.add(table)

    def _known(self, table: str, column: str, value: str) -> str:
        """Return a value as the table spells it. Raises ReaderError, with similar ones, for one that it has not."""
        found = self._con.execute(f"select distinct {column} from mart.{table} where {column} is not null").fetchall()
        names = {str(name).lower(): str(name) for (name,) in found}
        if value.lower() not in names:
            near = get_close_matches(value.lower(), names, n=10, cutoff=0.5) or sorted(names)[:10]
            raise ReaderError(f"no {column} {value!r} in {table}; there are: {', '.join(names[each] for each in near)}")
        return names[value.lower()]

    def _answer(self, query: str, values: Sequence[object] | Mapping[str, object]) -> Answer:
        bound = dict(values) if isinstance(values, Mapping) else list(values)
        try:
            rows = self._con.execute(query, bound).to_arrow_table()
        except duckdb.Error as error:
            raise ReaderError(f"{self.place}: {str(error).splitlines()[0]}") from error
        return Answer(rows.cast(pyarrow.schema([_in_utc(field) for field in rows.schema])))


def open(place: str | Path) -> Prices:
    """Open a `prices.duckdb`, a folder of Parquet, or the http(s) address of either.

    Raises ReaderError where there is nothing of the kind.
    """
    where = str(place)
    is_address = where.startswith(("http://", "https://"))
    if not is_address and not Path(where).exists():
        raise ReaderError(f"{where} is not there; name a {FILE}, a folder of Parquet, or an address of either")
    con = duckdb.connect()
    try:
        con.execute("set timezone = 'UTC'")
        if is_address:
            _load_http(con)
        is_file = where.partition("?")[0].endswith(".duckdb") or Path(where).is_file()
        files = None if is_file else _listed(con, where, is_address=is_address)
        if is_file:
            _attach(con, where)
    except duckdb.Error as error:
        con.close()
        raise ReaderError(f"{where} cannot be read: {str(error).splitlines()[0]}") from error
    except ReaderError:
        con.close()
        raise
    return Prices(where, con, files)


def _attach(con: duckdb.DuckDBPyConnection, file: str) -> None:
    """Use a published file: its macros work in the database in use alone."""
    con.execute(f"attach {_text(file)} as published (read_only)")
    con.execute("create view memory.main.build as from published.meta.build")
    con.execute(
        "create view memory.main.meaning as select table_name, column_name, "
        "concat_ws(' ', meaning, '[' || unit || ']') as comment "
        "from published.mart.data_dictionary where table_schema = 'mart'"
    )
    con.execute("use published")


def _listed(con: duckdb.DuckDBPyConnection, folder: str, *, is_address: bool) -> dict[str, list[str]]:
    """Return the files of each table of a folder, and its prices.duckdb where it has one, without reading them."""
    base = folder.rstrip("/") + "/"
    package = _package(base, is_address=is_address)
    resources = {each["name"]: each for each in package.get("resources", ())}
    found: dict[str, list[str]] = {}
    for table in TABLES:
        paths = resources[table]["path"] if table in resources else []
        listed = [paths] if isinstance(paths, str) else list(paths)
        files = [urljoin(base, path) if is_address else str(Path(folder, path)) for path in listed]
        found[table] = files if is_address or files else _files(Path(folder), table)
    if not any(found.values()):
        raise ReaderError(f"no table in {folder}; name its {FILE}, or a folder with {TABLES[0]}.parquet or {PACKAGE}")
    file = urljoin(base, FILE) if is_address else str(Path(folder, FILE))
    found[FILE] = [file] if is_address or Path(file).is_file() else []  # an address is tried when it is needed
    built_at = package.get("created")
    con.execute("create schema mart")
    con.execute("create table memory.main.build as select ?::TIMESTAMPTZ::TIMESTAMP as built_at", [built_at])
    con.execute("create table memory.main.meaning (table_name VARCHAR, column_name VARCHAR, comment VARCHAR)")
    for table in found:
        for field in resources.get(table, {}).get("schema", {}).get("fields", ()):
            values = [table, field["name"], field.get("description"), field.get("unit") or None]
            con.execute("insert into memory.main.meaning values (?, ?, concat_ws(' ', ?, '[' || ? || ']'))", values)
    return found


def _files(folder: Path, table: str) -> list[str]:
    one = folder / f"{table}.parquet"
    return [str(one)] if one.is_file() else sorted(str(path) for path in (folder / table).rglob("*.parquet"))


def _package(base: str, *, is_address: bool) -> dict[str, Any]:
    """Return a folder's list of files (https://datapackage.org); {} where a local folder has none.

    Raises ReaderError where an address has none, or what is there is no list.
    """
    try:
        if is_address:
            with urllib.request.urlopen(urljoin(base, PACKAGE), timeout=SECONDS) as answer:  # noqa: S310
                text = answer.read()
        else:
            file = Path(base, PACKAGE)
            text = file.read_bytes() if file.is_file() else b"{}"
        package = json.loads(text)
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        raise ReaderError(f"{base}{PACKAGE} cannot be read: {error}") from error
    if not isinstance(package, dict):
        raise ReaderError(f"{base}{PACKAGE} is no list of files")
    return package


def _load_http(con: duckdb.DuckDBPyConnection) -> None:
    """Load DuckDB's extension for addresses: that of the extra `offline`, or, without it, one that DuckDB fetches."""
    try:
        (package,) = import_module("duckdb_extension_httpfs").__path__
    except ImportError:
        con.execute("install httpfs; load httpfs")
    else:
        (file,) = Path(package).glob("extensions/*/httpfs.duckdb_extension")
        con.execute(f"load {_text(str(file))}")


def _in_utc(field: pyarrow.Field) -> pyarrow.Field:
    """Return a column of times with its time zone: those of a published file are UTC, without saying so."""
    return field.with_type(pyarrow.timestamp("us", "UTC")) if field.type == pyarrow.timestamp("us") else field


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
