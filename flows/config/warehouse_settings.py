"""The table [warehouse] of the settings: where the log, its published files and the landed documents lie."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Text, WebAddress
from warehouse.errors import ChipledgerError
from warehouse.lake import place
from warehouse.landing.folder import Landing


class WarehouseSettings(BaseModel):
    """The warehouse: a file of one writer, or one that several machines share.

    `url`: "duckdb:", the files in the data directory; or a DuckLake, as warehouse/lake/place.py says. `data_path`:
    where its
    rows and its published files lie. `schema`: the PostgreSQL schema of its catalogue. `landing`: where documents and
    journal lie; empty: in the data directory. `s3_endpoint`: of another S3 server than AWS's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    url: Text = Field(
        default=place.FILE,
        description='"duckdb:" is build.duckdb, for one writer; "ducklake:postgres:dbname=... host=..." and '
        '"ducklake:sqlite:/path" are for several',
    )
    data_path: Text = Field(
        default="",
        description="where the rows and published files of a shared warehouse lie: a folder, or s3://bucket/",
    )
    catalogue_schema: Text = Field(
        default="", alias="schema", description="PostgreSQL schema of the catalogue; empty: public"
    )
    landing: Text = Field(
        default="", description="where documents and journal lie: a folder, or s3://bucket/prefix/; empty: landing/"
    )
    s3_endpoint: WebAddress = Field(default="", description="address of another S3 server than AWS's")


def of(settings: Settings) -> WarehouseSettings:
    """Return the table, or its defaults. Raises SettingsError."""
    return table.checked(WarehouseSettings, settings.warehouse, name="warehouse")


def place_of(settings: Settings) -> place.Place:
    """Return where the warehouse of settings lies. Raises SettingsError."""
    chosen = of(settings)
    return place.place(
        settings.data_dir,
        url=chosen.url,
        data_path=chosen.data_path,
        schema=chosen.catalogue_schema,
        s3_endpoint=chosen.s3_endpoint,
    )


def landing_of(settings: Settings, *, part: str = "") -> Landing:
    """Return the landing folder or bucket of settings; `part` is the part of the journal that this process writes."""
    return Landing(landing_place(settings), part=part, endpoint=of(settings).s3_endpoint)


def landing_place(settings: Settings) -> Path | str:
    """Return where documents and journal lie: a folder's path, or the address of a bucket."""
    where = of(settings).landing
    if where.startswith(place.S3):
        return where
    return Path(where).expanduser() if where else settings.data_dir / "landing"


def refuse_shared(settings: Settings, command: str, *, hint: str) -> None:
    """Raise ChipledgerError where a command, which works on the files of one data directory, has none to work on."""
    chosen = of(settings)
    if place_of(settings).is_shared:
        raise ChipledgerError(
            f"`chipledger {command}` works on the files of one writer, and this warehouse is shared",
            source="settings",
            field="warehouse.url",
            value=chosen.url,
            hint=hint,
        )
    if chosen.landing:
        raise ChipledgerError(
            f"`chipledger {command}` works on a landing folder in the data directory, and this one is elsewhere",
            source="settings",
            field="warehouse.landing.folder",
            value=chosen.landing,
            hint=hint,
        )
