"""Settings: one file, `chipledger.toml`, and environment variables; a wrong one is named with its allowed values."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from warehouse.errors import SettingsError

FILE_NAME = "chipledger.toml"
PREFIX = "CHIPLEDGER_"
DOORS = ("auto", "api", "bulk")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a deployment can choose. Each may also be given as CHIPLEDGER_<NAME>; `sources` in the file only.

    `data_dir`: where everything is kept. `workers`: scopes that are fetched side by side. `wait_seconds`: how long to
    wait for another run that is writing. `heartbeat_url`: called after each good run. `sources`: one table for each
    source, with `enabled` and the source's own settings.
    """

    data_dir: Path = Path("data")
    workers: int = 8
    wait_seconds: float = 0.0
    heartbeat_url: str = ""
    sources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

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
        if text and item.name != "sources":
            values[item.name] = text
    if data_dir is not None:
        values["data_dir"] = data_dir
    return Settings(
        data_dir=Path(_text(values, "data_dir", "data")).expanduser(),
        workers=int(_number(values, "workers", 8, least=1, most=64)),
        wait_seconds=_number(values, "wait_seconds", 0, least=0, most=86400),
        heartbeat_url=_text(values, "heartbeat_url", ""),
        sources=_sources(values.get("sources", {})),
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
    from extract import SOURCES

    names = {source.name for source in SOURCES}
    if not isinstance(tables, dict):
        raise SettingsError("must be tables", field="sources", value=tables, hint="Write [sources.aws_price_list]")
    for name, table in tables.items():
        if name not in names:
            raise SettingsError(
                "unknown source", field=f"sources.{name}", value=table, hint=f"Known: {', '.join(sorted(names))}"
            )
        _check_source(name, table)
    return tables


def _check_source(name: str, table: object) -> None:
    allowed = {
        "enabled": "true or false",
        "door": " or ".join(DOORS),
        "regions": '"all" or a list',
        "bulk_url": "a URL",
    }
    if not isinstance(table, dict):
        raise SettingsError("must be a table", field=f"sources.{name}", value=table)
    for key, value in table.items():
        right = {
            "enabled": isinstance(value, bool),
            "door": value in DOORS,
            "regions": value == "all" or (isinstance(value, list) and all(isinstance(item, str) for item in value)),
            "bulk_url": isinstance(value, str) and value.startswith(("http://", "https://")),
        }.get(key)
        if right is None:
            hint = f"Known: {', '.join(sorted(allowed))}"
            raise SettingsError("unknown setting", field=f"sources.{name}.{key}", value=value, hint=hint)
        if not right:
            hint = f"Allowed: {allowed[key]}"
            raise SettingsError("wrong setting", field=f"sources.{name}.{key}", value=value, hint=hint)


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
