"""Settings: one file, `chipledger.toml`, and environment variables; a wrong one is named with its allowed values."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows import mail_settings, settings_table
from warehouse.errors import ChipledgerError, SettingsError

if TYPE_CHECKING:
    from extract.base import Source

FILE_NAME = "chipledger.toml"
PREFIX = "CHIPLEDGER_"
TABLES = ("mail", "costs", "alerts", "private", "decision", "site", "retention")
DOORS = ("auto", "api", "bulk")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a deployment can choose. Each may also be given as CHIPLEDGER_<NAME>; tables in the file only.

    `data_dir`: where everything is kept. `workers`: scopes that are fetched side by side. `wait_seconds`: how long to
    wait for another run that is writing. `heartbeat_url`: called after each good run. `sources`: one table for each
    source, with `enabled` and the source's own settings. `mail`, `costs`, `alerts`, `private`, `decision`, `site`,
    `retention`: tables that are read where they are used, each by its own module.
    """

    data_dir: Path = Path("data")
    workers: int = 8
    wait_seconds: float = 0.0
    heartbeat_url: str = ""
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mail: Mapping[str, Any] = field(default_factory=dict)
    costs: Mapping[str, Any] = field(default_factory=dict)
    alerts: Mapping[str, Any] = field(default_factory=dict)
    private: Mapping[str, Any] = field(default_factory=dict)
    decision: Mapping[str, Any] = field(default_factory=dict)
    site: Mapping[str, Any] = field(default_factory=dict)
    retention: Mapping[str, Any] = field(default_factory=dict)

    def published(self) -> Path:
        """Return the published file. Raises ChipledgerError where there is none yet."""
        file = self.data_dir / "prices.duckdb"
        if not file.exists():
            raise ChipledgerError(
                "there is no published file yet",
                source=str(file),
                hint="`chipledger run` makes one; `chipledger run --offline` works without a network",
            )
        return file

    def is_on(self, source: "Source") -> bool:
        """Return whether runs collect from a source where none is named."""
        return bool(self.source(source.name).get("enabled", not source.off_because))

    def source(self, name: str) -> Mapping[str, Any]:
        """Return the settings of one source; empty where none are given."""
        return self.sources.get(name, {})


def read(
    path: Path | None = None, *, data_dir: Path | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings of a file (`chipledger.toml` here, if there is one), then the environment, then `data_dir`.

    Raises SettingsError for an unknown name, a value out of range, or a file that was named and does not exist.
    """
    environ = os.environ if environ is None else environ
    named = path or (Path(environ[f"{PREFIX}SETTINGS"]) if environ.get(f"{PREFIX}SETTINGS") else None)
    values = _from_file(named or Path(FILE_NAME), must_exist=named is not None)
    for item in fields(Settings):
        text = environ.get(f"{PREFIX}{item.name.upper()}")
        if text and item.name not in ("sources", *TABLES):
            values[item.name] = text
    if data_dir is not None:
        values["data_dir"] = data_dir
    return Settings(
        data_dir=Path(_text(values, "data_dir", "data")).expanduser(),
        workers=int(_number(values, "workers", 8, least=1, most=64)),
        wait_seconds=_number(values, "wait_seconds", 0, least=0, most=86400),
        heartbeat_url=_text(values, "heartbeat_url", ""),
        sources=_sources(values.get("sources", {})),
        **{name: settings_table.table(values.get(name, {}), name=name) for name in TABLES if name != "mail"},
        mail=mail_settings.check_names(values.get("mail", {})),
    )


def _from_file(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if must_exist:
            raise SettingsError("the settings file does not exist", source=str(path)) from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file is not TOML: {error}", source=str(path)) from error
    known = {item.name for item in fields(Settings)}
    for name, value in values.items():
        if name not in known:
            raise SettingsError(
                "unknown setting", source=str(path), field=name, value=value, hint=f"Known: {', '.join(sorted(known))}"
            )
    return values


def _sources(tables: object) -> Mapping[str, Mapping[str, Any]]:
    if not tables:
        return {}
    from extract import SOURCES

    known = {source.name: ("enabled", *source.settings) for source in SOURCES}
    if not isinstance(tables, dict):
        raise SettingsError("must be tables", field="sources", value=tables, hint="Write [sources.aws_price_list]")
    for name, table in tables.items():
        if name not in known:
            raise SettingsError(
                "unknown source", field=f"sources.{name}", value=table, hint=f"Known: {', '.join(sorted(known))}"
            )
        if not isinstance(table, dict):
            raise SettingsError("must be a table", field=f"sources.{name}", value=table)
        for key, value in table.items():
            _check(f"sources.{name}.{key}", value, key, known[name])
    return tables


def _check(place: str, value: object, key: str, known: tuple[str, ...]) -> None:
    """Raise SettingsError where a source has no such setting, or its value is not of the setting's kind."""
    if key not in known:
        raise SettingsError("unknown setting", field=place, value=value, hint=f"Known: {', '.join(known)}")
    is_right, allowed = KINDS[key]
    if not is_right(value):
        raise SettingsError("wrong setting", field=place, value=value, hint=f"Allowed: {allowed}")


def _is_names(value: object) -> bool:
    return value == "all" or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, int) and item > 0 for item in value)


def _is_url(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://", "file:///"))


def _is_date(value: object) -> bool:
    return isinstance(value, date) or (isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d.*", value) is not None)


KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "enabled": (lambda value: isinstance(value, bool), "true or false"),
    "door": (lambda value: value in DOORS, " or ".join(DOORS)),
    "regions": (_is_names, '"all" or a list'),
    "instance_types": (_is_names, '"all" or a list'),
    "gpu_names": (_is_names, '"all" or a list'),
    "durations_hours": (_is_numbers, "a list of hours"),
    "counts": (_is_numbers, "a list of numbers"),
    "since": (_is_date, "a date, such as 2026-10-01"),
    **dict.fromkeys(("url", "bulk_url", "archive_url", "prices_url", "advisor_url"), (_is_url, "an address")),
}
"""Each setting that a source may declare: whether a value is of its kind, and what is, in words."""


def _text(values: Mapping[str, Any], name: str, default: str) -> str:
    value = values.get(name, default)
    if not isinstance(value, str | Path):
        raise SettingsError("must be text", field=name, value=value)
    return str(value)


def _number(values: Mapping[str, Any], name: str, default: float, *, least: float, most: float) -> float:
    value = values.get(name, default)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise SettingsError("out of range", field=name, value=value, hint=f"Allowed: {least:g} to {most:g}")
    return number
