"""The settings for people: each with its value and where that comes from, and a commented file of all of them."""

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from flows.config import source_settings
from flows.config.model import ENVIRONMENT_ONLY, Layers, SettingsModel
from flows.config.settings import PREFIX
from flows.config.table import HIDDEN, without_secrets
from reports.files import put
from warehouse.errors import SettingsError

WIDTH = 118
TABLE_HEAD = ("| setting | default | for |", "| --- | --- | --- |")
HEAD = """\
# Settings of chipledger, all of them, made by `chipledger init`. A line that begins with a single # and a name is what
# holds where nothing is said, or an example: take the # away and write your own. Variables of the environment come
# before this file: CHIPLEDGER_WORKERS, CHIPLEDGER_MAIL__HOST. Keys and passwords stand in variables only.
# `chipledger settings` shows what holds, and why.
"""


def rows(layers: Layers) -> list[dict[str, Any]]:
    """Return every setting with its value and origin, secrets hidden. Raises SettingsError."""
    model = layers.model()
    found: list[dict[str, Any]] = []
    for place, field, value in _leaves(model):
        shown = _shown(field, value)
        found.append({"setting": ".".join(place), "value": shown, "origin": layers.origin(*place)})
    return found


def text() -> str:
    """Return the file of all settings, commented out, with what each is for."""
    scalars: list[str] = []
    tables: list[str] = []
    for name, field in SettingsModel.model_fields.items():
        if name in ENVIRONMENT_ONLY:
            continue
        model = _model_of(name, field)
        if model is None:
            scalars += _lines(name, field)
        elif name == "sources":
            for source, each in model.model_fields.items():
                tables += _table(f"{name}.{source}", each, each.annotation)
        else:
            tables += _table(name, field, model)
    return "\n".join([HEAD, *scalars, *tables])


def reference() -> str:
    """Return all settings as tables in Markdown: name, default, what it is for; those of sources by name."""
    lines = [
        *TABLE_HEAD,
        *(_entry(name, field) for name, field in SettingsModel.model_fields.items() if _is_plain(name)),
    ]
    for name, field in SettingsModel.model_fields.items():
        model = _model_of(name, field)
        if model is not None and name != "sources":
            lines += ["", f"`[{name}]`: {field.description}.", "", *TABLE_HEAD]
            lines += [_entry(each.alias or key, each) for key, each in model.model_fields.items()]
    lines += ["", "`[sources.<name>]`, where the source has it; without it the source decides.", ""]
    lines += ["| setting | for | sources |", "| --- | --- | --- |"]
    tables = source_settings.tables().model_fields
    for key, kind in source_settings.KINDS.items():
        having = [name for name, each in tables.items() if key in _fields_of(each)]
        lines.append(f"| `{key}` | {kind.meaning} | {', '.join(f'`{name}`' for name in having)} |")
    lines += ["", "Of the environment alone:", "", "| variable | for |", "| --- | --- |"]
    for name in ENVIRONMENT_ONLY:
        lines.append(f"| `{PREFIX}{name.upper()}` | {SettingsModel.model_fields[name].description} |")
    return "\n".join(lines)


def _is_plain(name: str) -> bool:
    return name not in ENVIRONMENT_ONLY and _model_of(name, SettingsModel.model_fields[name]) is None


def _fields_of(field: FieldInfo) -> Mapping[str, FieldInfo]:
    model = _model_of("", field)
    return model.model_fields if model else {}


def _entry(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    shown = "" if default is None else f"`{_toml(default)}`"
    return f"| `{name}` | {shown} | {field.description} |"


def write(path: Path, *, force: bool) -> Path | None:
    """Write the file of all settings; with `force` one that is there is put aside first, and its new path returned.

    Raises SettingsError where there is one and it is not to be put aside, or where none can be written.
    """
    aside = None
    try:
        if path.exists():
            if not force:
                hint = "It is left as it is; --force puts it aside and writes a new one"
                raise SettingsError("there is a settings file", source=str(path), hint=hint)
            aside = next(new for number in range(1, 1000) if not (new := _aside(path, number)).exists())
            # Copied, not moved: at every moment there is a whole file of this name.
            shutil.copy2(path, aside)
        put(path, text())
    except OSError as error:
        raise SettingsError(f"the settings file cannot be written: {error.strerror}", source=str(path)) from error
    return aside


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _leaves(model: SettingsModel) -> Iterator[tuple[tuple[str, ...], FieldInfo, Any]]:
    """Yield place, field and value of each setting, as the file has them; tables within tables by their own names."""
    values = model.model_dump(mode="json", by_alias=True)
    values["sources"] = source_settings.tables().model_validate(model.sources).model_dump(mode="json")
    for name, field in SettingsModel.model_fields.items():
        yield from _below((name,), field, _model_of(name, field), values[name])


def _below(
    place: tuple[str, ...], field: FieldInfo, model: type[BaseModel] | None, value: Any
) -> Iterator[tuple[tuple[str, ...], FieldInfo, Any]]:
    if model is None:
        yield place, field, value
        return
    for name, each in model.model_fields.items():
        name = each.alias or name
        yield from _below((*place, name), each, _model_of(name, each), value[name])


def _model_of(name: str, field: FieldInfo) -> type[BaseModel] | None:
    if name == "sources":
        return source_settings.tables()
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _shown(field: FieldInfo, value: Any) -> Any:
    if isinstance(field.json_schema_extra, Mapping) and field.json_schema_extra.get("secret"):
        return HIDDEN if value else value
    return without_secrets(value)


def _table(place: str, field: FieldInfo, model: Any) -> list[str]:
    lines = ["", *_comment(field.description or ""), f"[{place}]"]
    for name, each in model.model_fields.items():
        lines += _lines(each.alias or name, each)
    return lines


def _lines(name: str, field: FieldInfo) -> list[str]:
    """Return what a setting is for, and the setting, commented out: its default, or an example where it has none."""
    default = field.get_default(call_default_factory=True)
    if default is not None:
        return [*_comment(field.description or ""), f"#{name} = {_toml(default)}"]
    (example,) = field.examples or (None,)
    return [*_comment(f"{field.description}; not set, for example:"), f"#{name} = {_toml(example)}"]


def _comment(words: str) -> list[str]:
    return textwrap.wrap(words, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _toml(value: Any) -> str:
    """Return a value as TOML writes it; of what settings are made, JSON writes all but tables alike."""
    plain = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    if isinstance(plain, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(each)}" for name, each in plain.items()) + "}"
    return json.dumps(plain, ensure_ascii=False)
