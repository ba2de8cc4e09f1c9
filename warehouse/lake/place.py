"""Where a warehouse lies: one file of one writer, or a DuckLake that several machines write.

`duckdb:` is `build.duckdb` in the data directory. `ducklake:postgres:dbname=... host=...` has its catalogue in a
PostgreSQL database, in libpq's words; `ducklake:sqlite:/path/catalog.sqlite` in a file, for several processes of one
machine. The rows of a DuckLake are Parquet files under `data_path`: a folder, or `s3://bucket/prefix/`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import SettingsError

FILE = "duckdb:"
POSTGRES, SQLITE = "ducklake:postgres:", "ducklake:sqlite:"
S3 = "s3://"
BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[^\s?#'\"]*)?")
PASSWORD = re.compile(r"password\s*=|://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a warehouse lies, as `place` read it.

    `data_dir`: the reader's and writer's own directory. `url`: as in the module's words. `data_path`: where a
    DuckLake's Parquet files and its published files lie, ending in a slash; empty for a file. `schema`: the PostgreSQL
    schema of the catalogue; empty: its default. `s3_endpoint`: an S3 server other than AWS's; empty: AWS's.
    """

    data_dir: Path
    url: str = FILE
    data_path: str = ""
    schema: str = ""
    s3_endpoint: str = ""

    @property
    def is_shared(self) -> bool:
        """Return whether several processes may write."""
        return self.url != FILE

    @property
    def is_postgres(self) -> bool:
        """Return whether the catalogue is a PostgreSQL database."""
        return self.url.startswith(POSTGRES)

    @property
    def catalogue(self) -> str:
        """Return what follows the scheme: libpq's words, or a file's path."""
        return self.url.removeprefix(POSTGRES if self.is_postgres else SQLITE)

    @property
    def is_on_s3(self) -> bool:
        """Return whether the rows lie in a bucket."""
        return self.data_path.startswith(S3)


def place(data_dir: Path, *, url: str = FILE, data_path: str = "", schema: str = "", s3_endpoint: str = "") -> Place:
    """Return the place that settings name. Raises SettingsError with the setting, its value and what is allowed."""
    if url in ("", FILE):
        return Place(data_dir=data_dir)
    if PASSWORD.search(url):
        hint = "libpq finds it in PGPASSWORD, or in the file that PGPASSFILE names"
        raise SettingsError("a password does not belong into the settings", field="warehouse.url", hint=hint)
    if not url.startswith((POSTGRES, SQLITE)) or not url.removeprefix(POSTGRES).removeprefix(SQLITE).strip():
        hint = f'Give "{FILE}", "{POSTGRES}dbname=... host=..." or "{SQLITE}/path/catalog.sqlite"'
        raise SettingsError("not a warehouse", field="warehouse.url", value=url, hint=hint)
    if schema and (url.startswith(SQLITE) or not SCHEMA.fullmatch(schema)):
        hint = "Lower-case letters, digits and _; a catalogue in SQLite has none"
        raise SettingsError("not a schema of a PostgreSQL catalogue", field="warehouse.schema", value=schema, hint=hint)
    if url.startswith(SQLITE):
        file = Path(url.removeprefix(SQLITE)).expanduser().absolute()
        url, data_path = f"{SQLITE}{file}", data_path or f"{file}.files/"
    if not data_path:
        hint = "Name a folder that every machine has, or s3://bucket/prefix/"
        raise SettingsError("no data path for the rows of a shared warehouse", field="warehouse.data_path", hint=hint)
    return Place(
        data_dir=data_dir, url=url, data_path=_files(data_path), schema=schema, s3_endpoint=s3_endpoint.rstrip("/")
    )


def _files(data_path: str) -> str:
    if "://" not in data_path:
        return f"{Path(data_path).expanduser().absolute()}/"
    if not BUCKET.fullmatch(data_path):
        hint = "Give an absolute path, or s3://bucket/prefix/"
        raise SettingsError("neither a folder nor a bucket", field="warehouse.data_path", value=data_path, hint=hint)
    return f"{data_path.rstrip('/')}/"
