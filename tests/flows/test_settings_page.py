"""docs/settings.md names every setting of every source, and every key; what it shows of sources is what they do."""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from scripts import script

from extract import SOURCES
from extract.base import Source
from extract.neoclouds import SOURCES as NEOCLOUDS
from flows.config import settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
KEY_NAME = re.compile(r"[A-Z][A-Z0-9]*_(?:API_)?(?:KEY|TOKEN)")


def tool() -> ModuleType:
    """Return the script that makes the tables, as a module."""
    return script("tools/settings_page.py")


def of(source: Source) -> str:
    return source.name


def keys(source: Source) -> set[str]:
    """Return the environment variables that a source reads a key from: constants of its module."""
    module = import_module(source.parse.__module__)
    return {value for value in vars(module).values() if isinstance(value, str) and KEY_NAME.fullmatch(value)}


def table_of(name: str) -> str:
    """Return the table of a source in the example, with its comments; empty where it has none."""
    assert EXAMPLE is not None
    tables = re.split(r"^\[sources\.(\w+)\]", EXAMPLE[1], flags=re.MULTILINE)
    return dict(zip(tables[1::2], tables[2::2], strict=True)).get(name, "")


@pytest.mark.parametrize("source", SOURCES, ids=of)
def test_every_setting_of_a_source_is_documented(source: Source) -> None:
    """In its table of the example, or in the row of the setting, which may name all providers at once."""
    shown = set(re.findall(r"\w+", table_of(source.name)))
    name = "every provider other than AWS" if source in NEOCLOUDS else f"`{source.name}`"
    shown |= {row[1] for row in re.finditer(r"^\| `(\w+)` \|.*\|(.*)\|$", PAGE, flags=re.MULTILINE) if name in row[2]}
    assert set(source.settings) - shown == set()


@pytest.mark.parametrize("source", [source for source in SOURCES if keys(source)], ids=of)
def test_every_key_is_documented(source: Source) -> None:
    """With the source that it is for."""
    for key in keys(source):
        assert f"| `{key}` | `{source.name}` |" in PAGE


def test_keys_are_found() -> None:
    """Those that are known; a new one is found by its name."""
    assert {key for source in SOURCES for key in keys(source)} >= {"DIGITALOCEAN_TOKEN", "VAST_API_KEY"}


def test_the_example_is_what_sources_do(tmp_path: Path) -> None:
    """It is read without an error, and turns on what is on without it."""
    assert EXAMPLE is not None
    file = tmp_path / "chipledger.toml"
    file.write_text(EXAMPLE[1], encoding="utf-8")
    read = settings.read(file, environ={})
    for source in SOURCES:
        assert read.source(source.name).get("enabled", not source.off_because) == (not source.off_because)


def test_defaults_stand_once() -> None:
    """Beside the tables made of the model no example repeats one; of sources the model has none."""
    shown = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", PAGE.split("`[sources.<name>]`")[0], flags=re.MULTILINE)
    assert len(shown) > 20
    examples = [part for part in re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL) if "[sources." not in part]
    given = {tuple(re.split(r"\s+#", line)[0].split(" = ")) for part in examples for line in part.splitlines()}
    assert given & set(shown) == set()


def test_the_tables_are_the_model() -> None:
    """Every setting with its default and what it is for, as the model has them."""
    assert tool().page(PAGE) == PAGE, "run: python tools/settings_page.py"
    assert "| `workers` | `8` | scopes that are fetched concurrently |" in PAGE
    assert "| `regions` |" in PAGE
    assert "| `CHIPLEDGER_MAIL_PASSWORD` |" in PAGE


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL))
def test_every_example_is_right(example: str, tmp_path: Path) -> None:
    """It is read as it stands, and uncommented."""
    file = tmp_path / "chipledger.toml"
    file.write_text(re.sub(r"^# (?=\w+ = )", "", example, flags=re.MULTILINE), encoding="utf-8")
    settings.read(file, environ={})


@pytest.mark.parametrize("name", ["CHIPLEDGER_MAIL__HOST", "CHIPLEDGER_SOURCES__VAST__ENABLED", "CHIPLEDGER_MAIL__TO"])
def test_the_variables_that_are_shown_are_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"`{name}" in PAGE
    value = {"CHIPLEDGER_MAIL__TO": '["you@example.com"]', "CHIPLEDGER_MAIL__HOST": "x"}.get(name, "true")
    assert settings.read(environ={name: value}) != settings.Settings()
