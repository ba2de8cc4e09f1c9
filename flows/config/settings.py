"""The settings as one typed model, and the layers it is read from: defaults, file, environment, command line.

pydantic-settings reads each layer by itself, so that every value can say where it comes from. Importing this takes
longer than a query of the published file: `flows.config` has what works without it.
"""

import functools
import logging
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    create_model,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as PydanticSettingsError

from flows.config import types
from flows.config.types import (
    Access,
    Counts,
    Currency,
    Day,
    MailAddress,
    MailAddresses,
    Names,
    NotNegative,
    Number,
    Positive,
    Share,
    SourceAddress,
    Switch,
    Table,
    Text,
    WebAddress,
    Whole,
)
from flows.decisions.cost_added import Added
from flows.shared import folders
from reports.weekly.calendar import CHIPS
from warehouse.errors import HIDDEN, ChipledgerError, SettingsError, nearest
from warehouse.lake import place

if TYPE_CHECKING:
    from extract.base import Source
    from warehouse.landing.folder import Landing
    from warehouse.landing.storage import Bucket

LOG = logging.getLogger(__name__)

DELIMITER = "__"
FILE_VARIABLE = f"{folders.PREFIX}SETTINGS"
PASSWORD = f"{folders.PREFIX}MAIL_PASSWORD"
CHAT_ADDRESSES = f"{folders.PREFIX}ALERT_URLS"
ENVIRONMENT_ONLY = ("cache_dir", "mail_password", "alert_urls")
"""Set by variables alone: secrets must not be in a file, and the folder is that of one machine."""
SECRET: dict[str, JsonValue] = {"secret": True}
"""Marks what is not shown, as whoever has it can use it."""

RENAMED: Mapping[str, str | None] = {
    **dict.fromkeys(("retention.compact_after_days", "mail.timeout_seconds")),
    **dict.fromkeys(("decision.monthly_spend", "decision.weeks_of_migration", "decision.weeks_to_production")),
    "run.fan_out": "run.task_runner",
    "mail.through": "mail.transport",
    "mail.least_change_percent": "mail.min_change_percent",
    "sources.aws_price_list.door": "sources.aws_price_list.access",
    "sources.aws_savings_plans.door": "sources.aws_savings_plans.access",
}
"""Settings by their old names, which work, with a warning, until the next release; None: the setting has no effect."""
REPLACED_VALUES: Mapping[tuple[str, object], str] = {("run.task_runner", "workers"): "threads"}
"""Values that are gone, and what holds in their place, with a warning, until the next release."""

Layer = Mapping[str, Any]
AlertKind = Literal["move", "chip", "stale", "claim"]
ALERT_KINDS: tuple[AlertKind, ...] = ("move", "chip", "stale", "claim")
Days = Annotated[Whole, Field(ge=0, le=36500)]
Age = Annotated[Whole, Field(ge=1, le=36500)]
PORTS = {"starttls": 587, "implicit": 465, "none": 25}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SUM_OF_SHARES_TOLERANCE = 1e-6


def _set(default: object, description: str, **more: Any) -> Any:
    return Field(default, description=description, **more)


def _unset(description: str, example: object) -> Any:
    """Return the field of a setting that has no default."""
    return Field(None, description=description, examples=[example])


class MailSettings(Table):
    """The weekly mail: recipients, sender, server. Every recipient gets a message of its own."""

    sender: MailAddress = _set("", "sender, such as prices@example.com", alias="from")
    to: MailAddresses = _set((), "recipients of the weekly mail; each gets a message of its own")
    reply_to: MailAddress = _set("", "address for replies, such as you@example.com")
    transport: Literal["smtp", "ses"] = _set("smtp", "smtp, or ses (Amazon SES, by boto3)")
    host: Text = _set("", "mail server")
    tls: Literal["starttls", "implicit", "none"] = _set("starttls", "starttls, implicit or none")
    port: Annotated[Whole, Field(ge=1, le=65535)] | None = _unset(
        "by default 587, with implicit 465, with none 25", 587
    )
    user: Text = _set("", f"user of the mail server; set its password in {PASSWORD}")
    region: Text = _set("", "AWS region of SES; by default as boto3 finds it")
    site_url: WebAddress = _set("", "where the reports folder is published, for links")
    chips: tuple[Text, ...] = _set(CHIPS, "chips in the mail, in order", min_length=1)
    min_change_percent: Number = _set(1.0, "smaller moves are counted and not listed", ge=0, le=100)
    send_quiet: Switch = _set(True, "whether a week without changes is mailed")
    password: SkipJsonSchema[SecretStr] = Field(SecretStr(""), exclude=True)

    @model_validator(mode="after")
    def _is_protected(self) -> Self:
        if self.transport == "smtp" and self.user and self.tls == "none" and self.host not in LOOPBACK:
            raise ValueError("tls = starttls or implicit, as a password would travel unprotected")
        return self

    def ready(self, password: SecretStr | None, *, to: tuple[str, ...] = ()) -> "MailSettings":
        """Return what a message can be sent with; `to`: recipients where [mail] names none.

        Raises SettingsError for what is missing.
        """
        made = self.model_copy(update={"to": self.to or to, "port": self.port or PORTS[self.tls]})
        needed = {"from": made.sender, "to": made.to, "reply_to": made.reply_to, "host": made.host}
        for name, value in needed.items():
            if not value and (name != "host" or made.transport == "smtp"):
                raise SettingsError("must be set", field=f"mail.{name}", hint="docs/mail.md shows the table [mail]")
        if made.transport == "smtp" and made.user and password is None:
            raise SettingsError("a user without a password", field="mail.user", value=made.user, hint=f"Set {PASSWORD}")
        return made.model_copy(update={"password": password or SecretStr("")})


class AlertSettings(Table):
    """What the daily run alerts of, and to whom."""

    change_percent: Number = _set(5.0, "list prices that moved by so much or more", gt=0, le=1000)
    stale_days: Number = _set(3.0, "live sources without a successful fetch for so long", ge=0.5, le=365)
    kinds: tuple[AlertKind, ...] = _set(ALERT_KINDS, "which kinds of alert")
    chips: tuple[str, ...] = _set((), "chips whose moves count; empty: all, unknown ones too")
    regions: tuple[str, ...] = _set((), "regions whose moves count; empty: all")
    to: MailAddresses = _set((), "mail addresses; server and sender are those of [mail]")

    @field_validator("chips")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a name that no chip has: no alert would ever match it."""
        if value:
            from warehouse.reference import accelerators

            known = accelerators.names()
            for name in value:
                if name not in known:
                    near = nearest(name, known, most=1)
                    raise ValueError(f"{f'{near[0]}, or ' if near else ''}another name that `chipledger chips` lists")
        return value

    def matches(self, move: Mapping[str, Any]) -> bool:
        """Return whether a price move is to be reported; one of an unknown chip or region only where all are."""
        of_chip = not self.chips or move["accelerator_name"] in self.chips
        return of_chip and (not self.regions or move["region_id"] in self.regions)


class CostSettings(Table):
    """Costs that no figure includes: USD a month, or a share of the bill for chips such as "10%"; None: unknown."""

    egress: Added | None = _unset("USD a month, or a share of the bill", 5000)
    storage: Added | None = _unset("USD a month, or a share of the bill", 1200)
    support: Added | None = _unset("USD a month, or a share of the bill", "10%")
    tax: Added | None = _unset("USD a month, or a share of the bill", "19%")
    engineering: Added | None = _unset("USD a month, or a share of the bill", 20000)
    capital: Added | None = _unset("USD a month, or a share of the bill", "4.5%")

    @field_validator("*", mode="before")
    @classmethod
    def _read(cls, value: object, info: Any) -> Added:
        return value if isinstance(value, Added) else Added.read(info.field_name, value, origin="settings")

    @field_serializer("*", when_used="unless-none")
    def _written(self, value: Added) -> float | str:
        """Return a cost as the file has it."""
        return f"{100 * value.share:.10g}%" if value.share is not None else value.usd_per_month or 0.0


class Spread(Table):
    """An uncertain share: the tenth percentile, the most likely value, the ninetieth percentile."""

    low: Share
    likely: Share
    high: Share

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low <= self.likely <= self.high:
            raise ValueError("low <= likely <= high")
        return self


class Profile(Table):
    """How many machines run: `hours` are shares of all hours, `nodes` the machines that run in each."""

    hours: tuple[Share, ...] = Field(min_length=1)
    nodes: tuple[NotNegative, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(self.hours) != len(self.nodes):
            raise ValueError("hours and nodes of one length")
        if abs(sum(self.hours) - 1) > SUM_OF_SHARES_TOLERANCE:
            raise ValueError("hours that sum to 1")
        return self


class DecisionSettings(Table):
    """Inputs of decisions; each may be left out."""

    horizon_months: Annotated[float, Field(ge=1, le=120)] | None = _unset("evaluation horizon in months", 36)
    share_of_use: Share | Spread | None = _unset(
        "share of paid hours in which machines work; or low, likely, high", 0.6
    )
    tolerates_interruption: Switch | None = _unset("whether the load tolerates the loss of a spot machine", False)
    spot_loss: Annotated[float, Field(ge=0, lt=1)] | None = _unset("share of spot hours lost to interruptions", 0.1)
    tokens_per_day: Positive | None = _unset("the load of serving", 1000000000)
    training_tokens: Positive | None = _unset("the load of training", 1000000000000)
    interactivity: Positive | None = _unset("tokens per second that one user must have", 30)
    providers: tuple[str, ...] = _set((), "the only providers to buy from; empty: all")
    regions: tuple[str, ...] = _set(
        (), "the only regions to buy in, as providers name them, or countries (DE) and continents (Europe); empty: all"
    )
    pattern: Literal["together", "level"] = _set("together", "nodes run all together, or at one level all the time")
    yearly_price_move: Annotated[float, Field(gt=-1, lt=1)] | None = _unset(
        "fall (-0.2) or rise of prices a year that you expect; left out: none", -0.2
    )
    use: Mapping[str, Spread | Profile] = _set({}, "share of use by label of a line: [decision.use.LABEL]")


class PrivateSettings(Table):
    """The private files; paths are relative to the folder where chipledger is started."""

    prices: Path | None = _unset("negotiated rates, .toml or .csv", "prices.toml")
    fleet: Path | None = _unset("your machines, a CSV", "fleet.csv")
    in_mail: Switch = _set(False, "whether the mail may contain contracted amounts")


class RetentionSettings(Table):
    """After how many days what is done."""

    daily_pages_days: Days = _set(400, "pages of single days this old are removed; 0: never")
    replaced_days: Days = _set(30, "replaced files this old are removed; 0: never")


class RankingSettings(Table):
    """Up to which age, counted from the file's own date, a price may be ranked and called cheapest."""

    max_age_days: Age = _set(90, "older prices are shown with their date and never ranked")
    marketplace_max_age_days: Age = _set(30, "the same, for marketplaces and offers of Capacity Blocks")


class SiteSettings(Table):
    """What the pages show."""

    claims: Switch = _set(True, "write the page of published claims and their verdicts")
    chips: tuple[str, ...] = _set(
        (), "chips of the front page, in order; empty: the default of [mail] and Trainium3", max_length=12
    )
    charts: Switch = _set(True, "draw charts, which takes two seconds")


class NetworkSettings(Table):
    """How other machines are reached; proxies are set by the environment alone, as they may hold a password."""

    ca_bundle: Text = _set("", "PEM file of a company's certificates, trusted in addition to the system's")


class RunSettings(Table):
    """Where the daily flow collects scopes."""

    task_runner: Literal["threads", "dask"] = _set("threads", "threads of the run, or a Dask cluster")
    processes: Whole = _set(4, "processes of the run's own Dask cluster", ge=1, le=64)
    dask_address: str = _set("", "such as tcp://10.0.0.5:8786; empty: the run starts a cluster")


class WarehouseSettings(Table):
    """The warehouse: files of one writer, or one that several machines share."""

    url: Text = _set(
        place.FILE,
        '"duckdb:" is build.duckdb, for one writer; "ducklake:postgres:dbname=... host=..." and '
        '"ducklake:sqlite:/path" are for several',
    )
    data_path: Text = _set("", "rows and published files of a shared warehouse: a folder, or s3://bucket/")
    catalogue_schema: Text = _set("", "PostgreSQL schema of the catalogue; empty: public", alias="schema")
    landing: Text = _set("", "documents and journal: a folder, or s3://bucket/prefix/; empty: landing/")
    s3_endpoint: WebAddress = _set("", "address of an S3 server other than AWS's")


def _option(type_: Any, description: str, example: object) -> tuple[Any, FieldInfo]:
    return type_ | None, _unset(description, example)


OPTIONS: Mapping[str, tuple[Any, FieldInfo]] = {
    "access": _option(
        Access, "api (needs credentials), bulk (public files), auto: api if there are credentials", "auto"
    ),
    "regions": _option(Names, '"all" or a list of regions, zones or parts of the provider', "all"),
    "instance_types": _option(Names, '"all" or a list of types', "all"),
    "gpu_names": _option(Names, '"all" or a list of the provider\'s names of chips', "all"),
    "durations_hours": _option(Counts, "lengths of the blocks to query", [24]),
    "counts": _option(Counts, "machines per block to query", [1]),
    "since": _option(Day, "first day to fetch, as far as the provider has it", "2026-10-01"),
    "url": _option(
        SourceAddress, "address in place of the provider's own, such as a mirror", "https://mirror.example.com"
    ),
    "bulk_url": _option(SourceAddress, "host of the public price files", "https://pricing.us-east-1.amazonaws.com"),
    "archive_url": _option(SourceAddress, "where `chipledger backfill` reads", "https://mirror.example.com/archive"),
    "prices_url": _option(SourceAddress, "address of the feed of prices", "https://mirror.example.com/spot.json"),
    "advisor_url": _option(
        SourceAddress, "address of the feed of interruptions", "https://mirror.example.com/advisor.json"
    ),
}
"""Each setting that a source may list in `Source.settings`. Where none is set, the source decides."""


def source_tables() -> type[BaseModel]:
    """Return the model of the table [sources]: one table a source, with the options that the source lists."""
    from extract import SOURCES

    return _tables_of(tuple(SOURCES))


@functools.cache
def _tables_of(sources: "tuple[Source, ...]") -> type[BaseModel]:
    made: dict[str, Any] = {}
    for source in sources:
        off = f". Off because {source.off_because}" if source.off_because else ""
        switch = Field(not source.off_because, description=f"whether runs collect from it{off}")
        fields: dict[str, Any] = {name: OPTIONS[name] for name in source.settings}
        table = create_model(source.name, __base__=Table, enabled=(Switch, switch), **fields)
        made[source.name] = (table, Field(default_factory=table, description=source.title))
    return create_model("Sources", __base__=Table, **made)


class Settings(BaseSettings):
    """Everything that a deployment can choose."""

    model_config = SettingsConfigDict(
        env_prefix=folders.PREFIX,
        env_nested_delimiter=DELIMITER,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    data_dir: Annotated[Path, AfterValidator(Path.expanduser)] = _set(
        folders.DATA_DIR, "build.duckdb, prices.duckdb, landing/, reports/"
    )
    workers: Whole = _set(8, "scopes that are fetched concurrently", ge=1, le=64)
    operator: Text = _set("a person", "who decides on refused rows and withdraws prices, as the history names them")
    wait_seconds: Number = _set(0.0, "how long to wait for another run that is writing", ge=0, le=86400)
    heartbeat_url: WebAddress = _set(
        "", "called after each successful run, to notice a dead schedule", json_schema_extra=SECRET
    )
    reporting_currency: Currency = _set(
        "USD", "pages and mail show it next to US dollars, at the ECB's rate: docs/reports.md"
    )
    mail: MailSettings = _set(MailSettings(), "the weekly mail: docs/mail.md")
    alerts: AlertSettings = _set(AlertSettings(), "what the daily run reports at once: docs/mail.md#alerts")
    costs: CostSettings = _set(CostSettings(), "costs that no figure includes")
    decision: DecisionSettings = _set(DecisionSettings(), "inputs of decisions: docs/deciding.md")
    private: PrivateSettings = _set(PrivateSettings(), "your own prices, never published: docs/fleet.md")
    retention: RetentionSettings = _set(RetentionSettings(), "when old pages and files are removed: docs/operating.md")
    ranking: RankingSettings = _set(RankingSettings(), "prices too old to rank: docs/querying.md")
    site: SiteSettings = _set(SiteSettings(), "the pages in the reports folder")
    network: NetworkSettings = _set(NetworkSettings(), "certificates of a company: docs/settings.md")
    run: RunSettings = _set(RunSettings(), "what fetches scopes: docs/scheduling.md")
    warehouse: WarehouseSettings = _set(WarehouseSettings(), "one writer or many: docs/warehouse-shared.md")
    sources: Mapping[str, Mapping[str, Any]] = _set({}, "one table for each source")

    cache_dir: Path | None = _set(None, "where backfills store the clone of skypilot_catalog")
    mail_password: SecretStr | None = _set(None, "password of [mail]'s user")
    alert_urls: SecretStr | None = _set(None, "addresses of chat services: docs/mail.md#alerts")

    def __init__(self, **values: Any) -> None:
        """Check the values. Raises SettingsError that names the first fault."""
        try:
            super().__init__(**values)
        except ValidationError as error:
            found = types.fault(type(self), error)
        else:
            return
        # Pydantic's own error repeats the input, which may be a secret, so it is not the cause of ours.
        raise found

    @field_validator("sources")
    @classmethod
    def _of_sources(cls, value: Mapping[str, Layer]) -> Mapping[str, Layer]:
        """Return what was set of each source, checked by the options of that source."""
        if not value:
            return {}
        tables = types.checked(source_tables(), value, name="sources")
        return {
            name: {key: getattr(table, key) for key in type(table).model_fields if key in table.model_fields_set}
            for name, table in tables
            if name in value
        }

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_others: Any, **_named: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take the values of the call alone: `layers` reads the sources one by one."""
        return (init_settings,)

    def replace(self, **changes: Any) -> "Settings":
        """Return these settings with other values. Raises SettingsError."""
        return Settings(**{name: getattr(self, name) for name in self.model_fields_set} | changes)

    def published(self) -> Path:
        """Return the published file; of a shared warehouse the newest one, fetched if it is another than is here.

        Where only the archive of the package was read, it is that one's. Raises ChipledgerError where there is none.
        """
        where = self.place()
        if where.is_shared:
            from warehouse.lake import publication

            return publication.current(where)
        return folders.published_in(self.shown().data_dir)

    def offline(self) -> "Settings":
        """Return these settings for the archive of the package: stored apart from live prices, and no sign of life."""
        return self.replace(data_dir=folders.offline_folder(self.data_dir), warehouse={}, heartbeat_url="")

    def shown(self) -> "Settings":
        """Return the settings of what readers see: of the archive where only the archive was published."""
        if self.warehouse.is_set or folders.visible_folder(self.data_dir) == self.data_dir:
            return self
        return self.offline()

    def is_on(self, source: "Source") -> bool:
        """Return whether runs collect from a source where none is named."""
        return bool(self.source(source.name).get("enabled", not source.off_because))

    def source(self, name: str) -> Layer:
        return self.sources.get(name, {})

    def mail_to_send(self, *, to: tuple[str, ...] = ()) -> MailSettings:
        """Return what messages can be sent with; `to`: recipients where [mail] names none. Raises SettingsError."""
        if not self.mail.is_set:
            raise SettingsError("mail is not set up", field="mail", hint="docs/mail.md shows the table [mail]")
        return self.mail.ready(self.mail_password, to=to)

    def chat_urls(self) -> tuple[str, ...]:
        """Return the addresses of chat services, such as slack://... or json://..., which are secrets."""
        text = self.alert_urls.get_secret_value() if self.alert_urls else ""
        return tuple(dict.fromkeys(text.split()))

    def place(self) -> place.Place:
        """Return where the warehouse is. Raises SettingsError."""
        return place.place(self.data_dir, **self.warehouse.model_dump(exclude={"landing"}, by_alias=True))

    def landing(self, *, part: str = "") -> "Landing":
        """Return the landing folder or bucket; `part` is the part of the journal that this process writes."""
        from warehouse.landing.folder import Landing

        return Landing(self.landing_place(), part=part, endpoint=self.warehouse.s3_endpoint)

    def landing_place(self) -> Path | str:
        """Return where documents and journal are: a folder's path, or the address of a bucket."""
        where = self.warehouse.landing
        if where.startswith(place.S3):
            return where
        return Path(where).expanduser() if where else self.data_dir / "landing"

    def shared_records(self) -> "Path | Bucket | None":
        """Return where those who share a warehouse have the records of what was sent; None where one machine has it."""
        from warehouse.landing.storage import Bucket

        if not self.warehouse.landing or not self.place().is_shared:
            return None
        where = self.landing_place()
        return where if isinstance(where, Path) else Bucket(where, endpoint=self.warehouse.s3_endpoint)

    def require_own_files(self, command: str, *, hint: str) -> None:
        """Raise ChipledgerError where a command that needs the files of one data directory does not have them."""
        for name, is_missing, needed in (
            ("url", self.place().is_shared, "the files of one writer, and this warehouse is shared"),
            ("landing", self.warehouse.landing, "the landing folder in the data directory, and this one is elsewhere"),
        ):
            if is_missing:
                value, message = getattr(self.warehouse, name), f"`chipledger {command}` needs {needed}"
                raise ChipledgerError(message, source="settings", field=f"warehouse.{name}", value=value, hint=hint)


@dataclass(frozen=True, kw_only=True)
class Layers:
    """What was set, and where: the command line comes before variables, variables before the file.

    `path`: the file, if there is one. `variables`: what each variable sets, by its name.
    """

    path: Path | None
    file: Layer
    variables: Mapping[str, Layer]
    command_line: Layer

    def model(self) -> Settings:
        """Return all layers as the model. Raises SettingsError that names the first fault, and where it was set."""
        environment = functools.reduce(_over, self.variables.values(), dict[str, Any]())
        for layer in (self.file, environment):
            for name in ENVIRONMENT_ONLY if layer is self.file else ():
                if name in layer:
                    hint = f"Set {folders.PREFIX}{name.upper()}"
                    raise SettingsError("must not be set in a file", source=str(self.path), field=name, hint=hint)
            if _at(layer, ("mail", "password")) is not None:
                raise SettingsError("must not be set here", field="mail.password", hint=f"Set {PASSWORD}")
        try:
            return Settings(**_over(_over(self.file, environment), self.command_line))
        except SettingsError as error:
            where = error.field.split(".")  # which ends in a position of a list, or in a name that is missing
            while where and not error.source:
                error.source = self.origin(*where).partition(": ")[2]
                where.pop()
            raise

    def origin(self, *where: str) -> str:
        """Return where a value comes from, for people: the file's path, names of variables, or "default"."""
        if _at(self.command_line, where) is not None:
            return "command line"
        found = [name for name, layer in self.variables.items() if _at(layer, where) is not None]
        if found:
            return f"environment: {', '.join(found)}"
        return f"file: {self.path}" if _at(self.file, where) is not None else "default"


def read(path: Path | None = None, *, environ: Mapping[str, str] | None = None, **stated: object) -> Settings:
    """Return the settings: those `stated`, then the environment, then a file (`chipledger.toml` here, if there is one).

    Raises SettingsError for an unknown name, a value out of range, or a file that was named and does not exist. A file
    of certificates in [network] counts for all clients of this process from now on; so does that new files are readable
    by their owner alone, or by his group too where the warehouse is shared, as far as the user's umask allows it.
    """
    found = layers(path, environ=environ, **stated).model()
    os.umask(folders.users_umask() | (0o077 if found.warehouse.url in ("", place.FILE) else 0o007))
    if found.network.ca_bundle:
        from extract.web import certificates

        certificates.share(found.network.ca_bundle)
    return found


def layers(path: Path | None = None, *, environ: Mapping[str, str] | None = None, **stated: object) -> Layers:
    """Return what was set and where (`stated`: if not None); log a warning for old names. Raises SettingsError."""
    environ = os.environ if environ is None else environ
    named = path or (Path(environ[FILE_VARIABLE]) if environ.get(FILE_VARIABLE) else None)
    file = named or Path(folders.FILE_NAME)
    if named and not file.exists():
        raise SettingsError("the settings file does not exist", source=str(file))
    path = file if file.exists() else None
    return Layers(
        path=path,
        file=_renamed(_from_file(path), str(path)) if path else {},
        variables={name: _renamed(layer, name) for name, layer in _from_environment(environ)},
        command_line={name: value for name, value in stated.items() if value is not None},
    )


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows' editors begin with a mark
    except ValueError as error:  # of TOML, or of UTF-8
        raise SettingsError(f"the settings file is not TOML: {error}", source=str(path)) from error
    except OSError as error:
        raise SettingsError(f"the settings file cannot be read: {error.strerror}", source=str(path)) from error


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    known = {f"{folders.PREFIX}{field.upper()}": field for field in Settings.model_fields}
    for name, value in sorted(environ.items()):
        if not name.startswith(folders.PREFIX) or name == FILE_VARIABLE or not value:
            continue
        if name.split(DELIMITER)[0] not in known:
            raise types.unknown(name, [FILE_VARIABLE, *known])
        source = EnvSettingsSource(Settings)
        source.env_vars = {name.lower(): value}  # of this environment, in place of the process's own
        try:
            yield name, source()
        except PydanticSettingsError:
            hint = f'Write a list as ["a", "b"], a table as {folders.PREFIX}TABLE{DELIMITER}NAME'
            shown = HIDDEN if types.SECRET_NAME.search(name) else value
            raise SettingsError("wrong setting", field=name, value=shown, hint=hint) from None


def _renamed(layer: dict[str, Any], where: str) -> Layer:
    """Return a layer with old names and values replaced by the present ones; log a warning for each."""
    for old, new in RENAMED.items():
        *table, last = old.split(".")
        held = _at(layer, table)
        if isinstance(held, dict) and last in held:
            value = held.pop(last)
            if new is None:
                LOG.warning("%s: setting %s has no effect any more: remove it", where, old)
                continue
            held.setdefault(new.rpartition(".")[2], value)
            LOG.warning("%s: setting %s is now %s; the old name works until the next release", where, old, new)
    for (name, old_value), value in REPLACED_VALUES.items():
        *table, last = name.split(".")
        if _at(layer, (*table, last)) == old_value:
            _at(layer, table)[last] = value
            LOG.warning('%s: %s = "%s" is gone; "%s" holds in its place', where, name, old_value, value)
    return layer


def _at(layer: Any, where: Any) -> Any:
    """Return the value at a place of a layer; None where there is none, as TOML has no null."""
    for part in where:
        layer = layer.get(part) if isinstance(layer, Mapping) else None
    return layer


def _over(below: Layer, above: Layer) -> dict[str, Any]:
    """Return two layers as one: the upper one's values count, table by table."""
    made = dict(below)
    for name, value in above.items():
        under = made.get(name)
        made[name] = _over(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return made
