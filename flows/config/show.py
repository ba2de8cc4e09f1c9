"""The settings for people, from the model's JSON schema: values with origins, and a commented file."""

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flows.config import types
from flows.config.settings import ENVIRONMENT_ONLY, Layers, Settings, source_tables
from reports.files import put
from warehouse.errors import HIDDEN, SettingsError

WIDTH = 118
HEAD = """\
# All settings of chipledger, as `chipledger settings init` writes them. A line with a single # and a name shows the
# default, or an example where there is none: remove the # and write your own value. Variables of the environment, such
# as CHIPLEDGER_WORKERS and CHIPLEDGER_MAIL__HOST, take precedence over this file. Set secrets by variables only.
# `chipledger settings` shows the values in force, and where each comes from.
"""

Fields = Mapping[str, Mapping[str, Any]]


def rows(layers: Layers) -> list[dict[str, Any]]:
    """Return every setting with its value and origin, secrets hidden. Raises SettingsError."""
    model = layers.model()
    values = model.model_dump(mode="json", by_alias=True)
    values["sources"] = source_tables()(**model.sources).model_dump(mode="json")
    found = []
    for table, _, fields in tables():
        here = values
        for part in table:
            here = here[part]
        for name, schema in fields.items():
            value = here[name]
            shown = HIDDEN if schema.get("secret") and value else types.without_secrets(value)
            found.append({"setting": ".".join((*table, name)), "value": shown, "origin": layers.origin(*table, name)})
    return found


def text() -> str:
    """Return the file of all settings, commented out, with descriptions."""
    lines = [HEAD]
    for table, description, fields in tables():
        if table:
            lines += ["", *_comment(description), f"[{'.'.join(table)}]"]
        for name, schema in fields.items():
            if table or name not in ENVIRONMENT_ONLY:
                lines += _commented(name, schema)
    return "\n".join(lines)


def write(path: Path, *, force: bool) -> Path | None:
    """Write the file of all settings; with `force` copy an existing one first, and return the path of the copy.

    Raises SettingsError where there is one and `force` is off, or where none can be written.
    """
    copy = None
    try:
        if path.exists():
            if not force:
                hint = "It was not changed; --force copies it and writes a new one"
                raise SettingsError("the settings file exists", source=str(path), hint=hint)
            names = (path.with_name(f"{path.name}.{number}") for number in range(1, 1000))
            copy = next(name for name in names if not name.exists())
            # Copied, not moved: at every moment there is a whole file of this name.
            shutil.copy2(path, copy)
        put(path, text())
    except OSError as error:
        raise SettingsError(f"the settings file cannot be written: {error.strerror}", source=str(path)) from error
    return copy


def tables() -> Iterator[tuple[tuple[str, ...], str, Fields]]:
    """Yield each table of the file: its place, its description, and its settings' schemas by name; top level first."""
    root = Settings.model_json_schema()
    tables = {name: each for name, each in root["properties"].items() if "$ref" in each}
    plain = {name: each for name, each in root["properties"].items() if name not in tables and name != "sources"}
    yield (), "", plain
    for name, each in tables.items():
        yield (name,), each["description"], types.schemas_at(root, (name,))[0]["properties"]
    root = source_tables().model_json_schema()
    for name, each in root["properties"].items():
        yield ("sources", name), each["description"], types.schemas_at(root, (name,))[0]["properties"]


def _commented(name: str, schema: Mapping[str, Any]) -> list[str]:
    """Return the description of a setting, and the setting, commented out: its default, or an example."""
    default = schema.get("default")
    if default is not None:
        return [*_comment(schema["description"]), f"#{name} = {toml(default)}"]
    return [*_comment(f"{schema['description']}; not set, for example:"), f"#{name} = {toml(schema['examples'][0])}"]


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def toml(value: Any) -> str:
    """Return a value as TOML writes it; JSON writes all but tables alike."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {toml(each)}" for name, each in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
