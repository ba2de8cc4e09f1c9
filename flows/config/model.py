"""The settings as one typed model, and the layers it is made of: defaults, the file, the environment, the command line.

pydantic-settings reads the layers; each is a mapping of its own until they are laid over one another, so that every
value can say where it comes from. Importing it takes longer than a question of the published file:
`flows.config.settings`
does so only where there is something to read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, JsonValue, SecretStr, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import TomlConfigSettingsSource as TomlSource
from pydantic_settings.exceptions import SettingsError as PydanticSettingsError

from flows.config import source_settings
from flows.config import table as settings_table
from flows.config.alert_settings import AlertSettings
from flows.config.cost_settings import Costs
from flows.config.decision_settings import DecisionSettings
from flows.config.mail_table import MailTable
from flows.config.network_settings import NetworkSettings
from flows.config.private_settings import PrivateSettings
from flows.config.ranking_settings import RankingSettings
from flows.config.retention_settings import RetentionSettings
from flows.config.run_settings import RunSettings
from flows.config.settings import PREFIX, Settings
from flows.config.site_settings import SiteSettings
from flows.config.types import Currency, Number, WebAddress, Whole
from flows.config.warehouse_settings import WarehouseSettings
from warehouse.errors import SettingsError

DELIMITER = "__"
FILE_VARIABLE = f"{PREFIX}SETTINGS"
SECRET: dict[str, JsonValue] = {"secret": True}
"""What is not shown, as whoever has it can use it."""

Layer = Mapping[str, Any]


class SettingsModel(BaseSettings):
    """Everything that a deployment can choose."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=DELIMITER,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    data_dir: Path = Field(
        default=Settings.data_dir, description="build.duckdb, prices.duckdb, landing/, reports/", validate_default=False
    )
    workers: Whole = Field(default=Settings.workers, ge=1, le=64, description="scopes that are fetched side by side")
    wait_seconds: Number = Field(
        default=Settings.wait_seconds, ge=0, le=86400, description="how long to wait for another run that is writing"
    )
    heartbeat_url: WebAddress = Field(
        default=Settings.heartbeat_url,
        json_schema_extra=SECRET,
        description="called after each good run, so that a dead schedule is noticed",
    )
    reporting_currency: Currency = Field(
        default=Settings.reporting_currency,
        description="pages and mail show prices in it beside US dollars, at the ECB's reference rate: docs/reports.md",
    )
    mail: MailTable = Field(default_factory=MailTable, description="the weekly mail: docs/mail.md")
    alerts: AlertSettings = Field(
        default_factory=AlertSettings, description="what the daily run tells at once: docs/alerts.md"
    )
    costs: Costs = Field(default_factory=Costs, description="costs beside the chips, which no figure includes")
    decision: DecisionSettings = Field(
        default_factory=DecisionSettings, description="what decisions are made with: docs/choosing.md"
    )
    private: PrivateSettings = Field(
        default_factory=PrivateSettings, description="what you run and what you pay, never published: docs/fleet.md"
    )
    retention: RetentionSettings = Field(
        default_factory=RetentionSettings, description="what becomes of old documents, pages and files: docs/backup.md"
    )
    ranking: RankingSettings = Field(
        default_factory=RankingSettings, description="up to which age prices are ranked: docs/querying.md"
    )
    site: SiteSettings = Field(default_factory=SiteSettings, description="the pages in the reports folder")
    network: NetworkSettings = Field(
        default_factory=NetworkSettings, description="certificates of a company: docs/settings.md"
    )
    run: RunSettings = Field(default_factory=RunSettings, description="where scopes are collected: docs/fan-out.md")
    warehouse: WarehouseSettings = Field(
        default_factory=WarehouseSettings, description="one file, or a warehouse of many: docs/warehouse-shared.md"
    )
    sources: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict, description="one table for each source")

    cache_dir: Path | None = Field(
        default=None, description="where the clone of skypilot_catalog stays from one backfill to the next"
    )
    mail_password: SecretStr | None = Field(default=None, description="password of [mail]'s user")
    alert_urls: SecretStr | None = Field(default=None, description="addresses of chat services: docs/alerts.md")

    @field_validator("data_dir")
    @classmethod
    def _at_home(cls, value: Path) -> Path:
        return value.expanduser()

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_others: Any, **_named: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what is given and nothing else: `layers` reads the sources one by one."""
        return (init_settings,)


ENVIRONMENT_ONLY = ("cache_dir", "mail_password", "alert_urls")
"""Read from variables alone: secrets do not belong into a file, and the folder is that of one machine."""


class Environment(EnvSettingsSource):
    """The variables of a given environment, in place of this process's own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__(SettingsModel)
        self.env_vars = {name.lower(): value for name, value in environ.items() if value}


@dataclass(frozen=True, kw_only=True)
class Layers:
    """What was given, by where it was given; later ones come before earlier ones.

    `path`: the file, if there is one. `variables`: those of the environment that are settings, by name.
    """

    path: Path | None
    variables: tuple[str, ...]
    file: Layer
    environment: Layer
    command_line: Layer

    def model(self) -> SettingsModel:
        """Return all layers as the model. Raises SettingsError that names the first fault, and its file."""
        for name in ENVIRONMENT_ONLY:
            if name in self.file:
                raise SettingsError(
                    "does not belong into a file",
                    source=str(self.path),
                    field=name,
                    value=settings_table.HIDDEN,
                    hint=f"Set {PREFIX}{name.upper()}",
                )
        if "password" in _table(self.file, "mail") or "password" in _table(self.environment, "mail"):
            raise SettingsError(
                "a password does not belong into a file", field="mail.password", hint=f"Set {PREFIX}MAIL_PASSWORD"
            )
        # By itself first, so that what is wrong in the file is not looked for in the environment.
        if self.file:
            checked(self.file, source=str(self.path))
        return checked(_over(_over(self.file, self.environment), self.command_line), source="")

    def origin(self, *place: str) -> str:
        """Return where a value comes from, for people: the file's path, names of variables, or "default"."""
        if _has(self.command_line, place):
            return "command line"
        name = f"{PREFIX}{DELIMITER.join(place)}".upper()
        found = [
            each
            for each in self.variables
            if f"{each}{DELIMITER}".startswith(f"{name}{DELIMITER}") or name.startswith(f"{each}{DELIMITER}")
        ]
        if _has(self.environment, place) and found:
            return f"environment: {', '.join(found)}"
        return f"file: {self.path}" if _has(self.file, place) else "default"


def layers(path: Path | None, *, must_exist: bool, environ: Mapping[str, str], command_line: Layer) -> Layers:
    """Return what a file, the environment and the command line give. Raises SettingsError for what cannot be read."""
    is_there = path is not None and path.exists()
    if must_exist and not is_there:
        raise SettingsError("the settings file does not exist", source=str(path))
    file = _from_file(path) if path is not None and is_there else {}
    own = {
        name: value for name, value in environ.items() if name.startswith(PREFIX) and name != FILE_VARIABLE and value
    }
    return Layers(
        path=path if is_there else None,
        variables=tuple(sorted(own)),
        file=file,
        environment=_from_environment(own),
        command_line=command_line,
    )


def checked(values: Layer, *, source: str) -> SettingsModel:
    """Return values as the model, sources and all. Raises SettingsError."""
    model = settings_table.checked(SettingsModel, values, source=source)
    source_settings.checked(model.sources, source=source)
    return model


def _from_file(path: Path) -> Layer:
    try:
        return TomlSource(SettingsModel, path)()
    except ValueError as error:  # of TOML, or of UTF-8
        raise SettingsError(f"the settings file is not TOML: {error}", source=str(path)) from error
    except OSError as error:
        raise SettingsError(f"the settings file cannot be read: {error.strerror}", source=str(path)) from error


def _from_environment(own: Mapping[str, str]) -> Layer:
    for name, value in own.items():
        if name.removeprefix(PREFIX).split(DELIMITER)[0].lower() not in SettingsModel.model_fields:
            known = [FILE_VARIABLE, *(f"{PREFIX}{field.upper()}" for field in SettingsModel.model_fields)]
            raise settings_table.unknown(name, value, known)
    for name, value in own.items():
        try:
            Environment({name: value})()
        except PydanticSettingsError:
            hint = f'Write a list as ["a", "b"], a table as {PREFIX}TABLE{DELIMITER}NAME'
            shown = settings_table.HIDDEN if settings_table.SECRET_NAME.search(name) else value
            raise SettingsError("wrong setting", field=name, value=shown, hint=hint) from None
    return Environment(own)()


def _table(layer: Layer, name: str) -> Layer:
    table = layer.get(name)
    return table if isinstance(table, Mapping) else {}


def _has(layer: Layer, place: tuple[str, ...]) -> bool:
    here: object = layer
    for part in place:
        if not isinstance(here, Mapping) or part not in here:
            return False
        here = here[part]
    return True


def _over(below: Layer, above: Layer) -> dict[str, Any]:
    """Return two layers as one: what the upper one says counts, table by table."""
    made = dict(below)
    for name, value in above.items():
        under = made.get(name)
        made[name] = _over(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return made


def settings_of(model: SettingsModel) -> Settings:
    """Return the settings as the program uses them: tables hold what was set, by the names that the file has for it."""
    values: dict[str, Any] = {}
    for name in Settings.__dataclass_fields__:
        value = getattr(model, name)
        values[name] = settings_table.given(value) if isinstance(value, BaseModel) else value
    return Settings(**values | {"sources": source_settings.checked(model.sources)})
