"""Write the tables of all settings into docs/settings.md, from the model that reads them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "settings.md"
START, END = "<!-- made by tools/settings_page.py -->", "<!-- end -->"
TABLE_HEAD = ("| setting | default | for |", "| --- | --- | --- |")


def page(text: str) -> str:
    """Return the page with its tables made anew."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{reference()}\n\n{END}{after}"


def reference() -> str:
    """Return all settings as tables in Markdown: name, default, description; those of sources by name."""
    from extract.neoclouds import SOURCES as NEOCLOUDS
    from flows.config.settings import ENVIRONMENT_ONLY, OPTIONS, RENAMED, Settings
    from flows.config.show import tables
    from flows.shared.folders import PREFIX

    lines: list[str] = []
    having: dict[str, list[str]] = {name: [] for name in OPTIONS}
    providers = {f"`{source.name}`" for source in NEOCLOUDS}
    for table, description, fields in tables():
        if table[:1] == ("sources",):
            for name in fields.keys() & OPTIONS.keys():
                having[name].append(f"`{table[1]}`")
            continue
        lines += ["", f"`[{table[0]}]`: {description}.", ""] if table else []
        lines += [*TABLE_HEAD, *(_entry(*each) for each in fields.items() if each[0] not in ENVIRONMENT_ONLY)]
    lines += ["", "`[sources.<name>]`, for the sources named; without it the source decides.", ""]
    lines += ["| setting | for | sources |", "| --- | --- | --- |"]
    for name, names in having.items():
        if providers <= {*names}:
            names = ["every provider other than AWS", *(each for each in names if each not in providers)]
        lines.append(f"| `{name}` | {OPTIONS[name][1].description} | {', '.join(names)} |")
    lines += ["", "Old names, which work until the next release, with a warning:", "", "| old | new |", "| --- | --- |"]
    lines += [f"| `{old}` | {f'`{new}`' if new else 'none: it has no effect'} |" for old, new in RENAMED.items()]
    lines += ["", "By variables only:", "", "| variable | for |", "| --- | --- |"]
    for name in ENVIRONMENT_ONLY:
        lines.append(f"| `{PREFIX}{name.upper()}` | {Settings.model_fields[name].description} |")
    return "\n".join(lines)


def _entry(name: str, schema: Mapping[str, Any]) -> str:
    from flows.config.show import toml

    shown = "" if schema.get("default") is None else f"`{toml(schema['default'])}`"
    return f"| `{name}` | {shown} | {schema['description']} |"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    DOCUMENT.write_text(page(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
