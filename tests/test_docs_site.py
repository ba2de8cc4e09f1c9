"""The docs as a site: every page is in its navigation, every anchor and query holds, and it asks no other host."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest
import yaml
from scripts import script

ROOT = Path(__file__).parent.parent
PAGES = {path.name: path for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("*.md"))}
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", flags=re.DOTALL | re.MULTILINE)
ASKED_ELSEWHERE = {
    "adding-a-mart.md": "tests/test_adding_a_mart.py",
    "querying.md": "tests/test_questions.py",
    "purchase-options.md": "tests/transform",
}
"""Documents whose queries have tests of their own."""


@pytest.fixture(scope="module")
def site() -> ModuleType:
    """The hook that makes pages, as a module."""
    return script("tools/docs_site.py")


@pytest.fixture(scope="module")
def made(site: ModuleType) -> dict[str, str]:
    """The text of each page that is made, by path."""
    pages: dict[str, str] = site.generated()
    return pages


def paths(entry: Any) -> list[str]:
    """Return all paths of a navigation."""
    if isinstance(entry, str):
        return [entry]
    children = entry.values() if isinstance(entry, dict) else entry
    return [path for child in children for path in paths(child)]


def anchors(text: str) -> set[str]:
    """Return what `#...` may say of a page: its headings, as GitHub and the site write them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), flags=re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading)) for heading in plain}


def wrong_anchors(pages: dict[str, str]) -> list[str]:
    """Return the links to a heading of a page that is not there, as page and target."""
    return [
        f"{name}: {file}#{anchor}"
        for name, text in pages.items()
        for file, anchor in re.findall(r"\]\((?:docs/|\.\./)?([\w.-]*)#([^)\s]+)\)", FENCE.sub("", text))
        if (file or name) in pages and anchor not in anchors(pages[file or name])
    ]


def test_every_page_is_in_the_navigation(site: ModuleType, made: dict[str, str]) -> None:
    """Each document and each made page once, and nothing that is neither."""
    listed = paths(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    listed += paths(list(site.generated_names().values()))

    assert sorted(listed) == sorted({*made, *(path.name for path in ROOT.glob("docs/*.md"))})


def test_a_page_for_each_source_mart_formula_and_command(made: dict[str, str]) -> None:
    """What is registered has a page, or its part of one, with what it takes."""
    from extract import SOURCES
    from flows.cli.main import main
    from transform.formula import formulas
    from transform.models import MACROS, MARTS, PUBLIC

    for source in SOURCES:
        page = made[f"sources/{source.name}.md"]
        assert source.terms_url in page
        assert re.search(r"\| credentials \| .*\w", page), source.name
        assert [name for name in source.settings if f"`{name}`" not in page] == []
        assert "\n1. " in page, source.name
    names = {mart.qualified for mart in MARTS} | {mart.name for mart in (*PUBLIC, *MACROS)}
    assert names <= {Path(path).stem for path in made if path.startswith("marts/")}
    assert "| `unit_price` | DECIMAL(18,10) |" in made["marts/int.price_history.md"]
    assert "## Example" in made["marts/price_history.md"]
    assert "from mart.cheapest(" in made["marts/cheapest.md"]
    assert [f.name for f in formulas() if f"\n### {f.schema}.{f.name}\n" not in made["formulas.md"]] == []
    shown = made["command-options.md"]
    assert [name for name, command in main.commands.items() if f"\n## chipledger {name}\n" not in shown] == []
    assert "| `--schedule NAME=CRON` |" in shown


def test_anchors_lead_to_headings() -> None:
    """Each link to a part of a page names a heading of it; one that does not is seen."""
    assert wrong_anchors({name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}) == []
    assert wrong_anchors({"a.md": "# One thing\n[x](b.md#two)[y](#one-thing)", "b.md": "# Three"}) == ["a.md: b.md#two"]


def test_every_query_runs(offline_run: Path) -> None:
    """Each block of SQL that is a whole question, and each `chipledger query`, is one that the file can answer."""
    asked, failed = 0, []
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        for name in sorted(PAGES.keys() - ASKED_ELSEWHERE):
            text = PAGES[name].read_text(encoding="utf-8")
            questions = [block for language, block in FENCE.findall(text) if language == "sql"]
            questions += re.findall(r'chipledger query [^"\n]*"([^"]+)"', text)
            for question in questions:
                if "private." in question or not re.search(r"^\s*(--.*\n\s*)*(select|from|with)\b", question):
                    continue  # of a file of one's own; a part of a question
                asked += 1
                try:
                    con.execute(question).fetchall()
                except duckdb.Error as error:
                    failed.append(f"{name}: {error}")
    assert failed == []
    assert asked > 15


def test_nothing_is_loaded_from_elsewhere(site: ModuleType) -> None:
    """Scripts, styles and pictures of other hosts are found; links that a reader follows are none of them."""
    page = '<a href="https://x.org"></a><link rel="canonical" href="https://x.org"><script src="a.js"></script>'
    assert site.loaded_from_elsewhere(page) == []
    assert site.loaded_from_elsewhere('<script src="//cdn.org/a.js"></script><img src=https://b.org/c.png>') == [
        "//cdn.org/a.js", "https://b.org/c.png",
    ]  # fmt: skip
    theme = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["theme"]
    assert theme["font"] is False


def test_links_out_of_the_site(site: ModuleType) -> None:
    """A file that is no page becomes its name, README and the like become their pages, what is gone stays."""
    text = (
        "[prefect.yaml](../prefect.yaml) [units](../packaging/systemd/) [new](../CHANGELOG.md#data) [a](gone.md) "
        "`[b](../LICENSE)`"
    )
    assert site.without_files(text, "scheduling.md", {"scheduling.md"}) == (
        "`prefect.yaml` units (`packaging/systemd`) [new](changelog.md#data) [a](gone.md) `[b](../LICENSE)`"
    )
    assert site.moved("[x](docs/mail.md) ![y](docs/img/a.png) [z](LICENSE) [w](#here)") == (
        "[x](mail.md) ![y](img/a.png) [z](../LICENSE) [w](#here)"
    )


def test_lists_are_as_deep_as_the_builder_wants(site: ModuleType) -> None:
    """What goes on in an item stands four columns in, code with its fence; code that is in no list stays."""
    assert site.deepened("1. a\n\n   ```sh\n   x \\\n     y\n   ```\n\n  - b\n```\n  c\n```\n") == (
        "1. a\n\n    ```sh\n    x \\\n      y\n    ```\n\n    - b\n```\n  c\n```\n"
    )
