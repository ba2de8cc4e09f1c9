"""Documents under test: what they name exists, and what exists is named."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from extract import SOURCES
from flows.config.settings import Settings

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")})

CHANGELOG_SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Data"}


def broken_links(document: Path) -> list[str]:
    """Return the relative links of a document that lead to no file."""
    text = re.sub(r"^ *```.*?^ *```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    return [
        target
        for target in targets
        if not re.match(r"[a-z]+:|#", target) and not (document.parent / target.partition("#")[0]).exists()
    ]


def code(text: str) -> Iterator[str]:
    """Yield the code of a document: each line of its fenced blocks, continuations joined, and each inline span."""
    fences = re.compile(r"^ *```(\w*)\n(.*?)^ *```", flags=re.DOTALL | re.MULTILINE)
    for fence in fences.finditer(text):
        if fence[1] in {"", "sh", "bash", "console"}:
            yield from (line.strip() for line in fence[2].replace("\\\n", " ").splitlines())
    yield from (span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", fences.sub("", text)))


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words after `chipledger` of every command line that a document shows."""
    for line in code(text):
        if match := re.match(r"(?:\$ )?(?:uv run (?:--locked )?)?chipledger ([a-z-].*)", line):
            lexer = shlex.shlex(match[1], posix=True, punctuation_chars="|;&<>")
            lexer.whitespace_split = True
            words = []
            for word in lexer:
                if set(word) <= set("|;&<>"):
                    break
                words.append(word)
            yield words


def unknown_command(main: click.Group, words: list[str]) -> str | None:
    """Return what the command line does not know of a documented call, None if it knows all."""
    command: click.Command = main
    n_values = 0
    for word in words:
        if n_values:
            n_values -= 1
            continue
        name = word.partition("=")[0]
        if name.startswith("-"):
            known = {option for parameter in (main, command) for p in parameter.params for option in p.opts}
            known |= {option for p in command.params for option in p.secondary_opts}
            if name not in known | {"--help", "--version"}:
                return f"{command.name} {name}"
            taking = [p for p in command.params if isinstance(p, click.Option) and name in p.opts and not p.is_flag]
            n_values = taking[0].nargs if taking and "=" not in word and isinstance(command, click.Group) else 0
        elif isinstance(command, click.Group):
            for alternative in word.split("|"):
                if alternative not in command.commands:
                    return f"{command.name} {alternative}"
            command = command.commands[word.split("|")[0]]
    return None


def make_targets(makefile: str) -> set[str]:
    """Return the targets of a Makefile that are for people: those with a line of help."""
    return set(re.findall(r"^([a-z]+):[^#\n]*## ", makefile, flags=re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link of a document leads to a file of the repository."""
    assert broken_links(document) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    """A link to a file that is not there is found; addresses, anchors and code are no such links."""
    page = tmp_path / "page.md"
    page.write_text(
        "[a](gone.md) [b](page.md#x) [c](https://example.com) [d](#y)\n```\n[e](f)\n```\n", encoding="utf-8"
    )

    assert broken_links(page) == ["gone.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist(document: Path) -> None:
    """A `make` command in a document is a target of the Makefile."""
    named = {m[1] for line in code(document.read_text(encoding="utf-8")) if (m := re.match(r"make ([a-z]+)$", line))}

    assert named - make_targets((ROOT / "Makefile").read_text()) - {"setup"} == set()


def test_make_targets_are_documented() -> None:
    """Every target with a line of help stands in CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert {
        target for target in make_targets((ROOT / "Makefile").read_text()) if f"`make {target}`" not in text
    } == set()


def test_readme_names_the_commands_that_ci_runs() -> None:
    """What the README tells people to run is what CI runs."""
    shown = set(code((ROOT / "README.md").read_text(encoding="utf-8")))

    assert {"make run", "make test"} <= shown


def test_readme_counts_the_providers_that_are_on() -> None:
    """Those of a live source that is on unless the settings say otherwise; AWS, and rates of currencies, are none."""
    on = {one.provider for one in SOURCES if one.kind == "live" and Settings().is_on(one)} - {"AWS", "ECB"}

    assert f"those of {len(on)} other providers" in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_ci_runs_the_one_check_command() -> None:
    """.ci/run ends in `make test`; CI calls it for each of the two targets that this one is made of."""
    assert (ROOT / ".ci/run").read_text().rstrip().endswith('\nmake "${1:-test}"')
    parts = re.findall(r"- run: \.ci/run (\w+)\n", (ROOT / ".github/workflows/ci.yml").read_text())
    assert f"\ntest: {' '.join(parts)}  ##" in (ROOT / "Makefile").read_text()


def test_the_parts_of_ci_are_all_tests() -> None:
    """The last part leaves out what the others have, and nothing else."""
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    named = re.findall(r"paths: (tests/[^}]+)}", text)

    assert len(named) > 1
    assert sorted(re.findall(r"--ignore=(\S+)", text)) == sorted(" ".join(named).split())
    assert [path for path in " ".join(named).split() if not (ROOT / path).is_dir()] == []


def test_changelog_keeps_its_form() -> None:
    """The changelog starts with Unreleased; releases are CalVer with their date; sections have known names."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)

    assert releases[0] == "[Unreleased]"
    assert [r for r in releases[1:] if not re.fullmatch(r"\[\d{4}\.\d{1,2}\.\d+\] - \d{4}-\d\d-\d\d", r)] == []
    assert set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE)) <= CHANGELOG_SECTIONS


def test_every_command_is_documented() -> None:
    """Each command of the command line is shown in the README or under docs/."""
    from flows.cli.main import main

    text = "\n".join(d.read_text(encoding="utf-8") for d in DOCUMENTS if d.name == "README.md" or "docs" in d.parts)
    shown = {words[0] for words in commands(text)}

    assert {name for name, command in main.commands.items() if not command.hidden} - shown == set()


def test_every_command_explains_itself() -> None:
    """Each command has a sentence of help, and so has each of its options."""
    from flows.cli.main import main

    silent = [name for name, command in main.commands.items() if not command.get_short_help_str()]
    silent += [
        f"{name} {option.opts[0]}"
        for name, command in main.commands.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]

    assert silent == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documented_commands_exist(document: Path) -> None:
    """Each command line in a document has a command and options that exist."""
    from flows.cli.main import main

    text = document.read_text(encoding="utf-8")

    assert [unknown for words in commands(text) if (unknown := unknown_command(main, words))] == []


def test_a_wrong_command_is_seen() -> None:
    """A command or option that does not exist is named; what exists passes, pipes and all."""

    @click.group()
    @click.option("--data-dir")
    def main(data_dir: str) -> None: ...

    @main.command()
    @click.option("--offline/--live")
    def collect(offline: bool) -> None: ...

    text = (
        "```sh\n$ chipledger collect --offline | jq .x\nchipledger --data-dir=x collect\nchipledger colect\n"
        "uv run chipledger collect \\\n  --oflline\n```\n1. in a list\n\n   ```sh\n   chipledger listed\n   ```\n"
        "`chipledger collect --live` and `chipledger` alone\n"
        "```python\nchipledger nothing\n```\n"
    )

    assert [unknown_command(main, words) for words in commands(text)] == [
        None, None, "main colect", "collect --oflline", "main listed", None,
    ]  # fmt: skip


BANNED = {
    "asked", "asking", "asks", "beside", "door", "handed", "look", "looked", "looking", "looks", "settled", "stands",
    "stood", "taken", "tell", "telling", "tells", "told",
}  # fmt: skip
"""Words that the documents had in place of the field's own; CONTRIBUTING.md's glossary has what replaces each."""
WRITTEN = [page for page in DOCUMENTS if page.name != "CHANGELOG.md"]


def banned_words(text: str) -> set[str]:
    """Return the banned words in the prose of a document: outside of code, of links' targets, of the glossary."""
    glossary = re.search(r"^## Glossary$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    prose = text.replace(glossary[0], "") if glossary else text
    prose = re.sub(r"^ *```.*?^ *```|`[^`]*`|\]\([^)]*\)", " ", prose, flags=re.DOTALL | re.MULTILINE)
    return BANNED & set(re.findall(r"[a-z]+", prose.lower()))


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_the_words_of_the_glossary(document: Path) -> None:
    """No page that a person writes has a banned word; those made of code have the words of the code."""
    text = document.read_text(encoding="utf-8")
    if not text.startswith("<!-- generated"):
        assert banned_words(text) == set()


def test_a_banned_word_is_seen() -> None:
    """In prose; not in code, in a link's target, or in the glossary."""
    assert banned_words("It is told.\n`door` [x](beside.md)\n```\nlooks\n```\n## Glossary\nasked\n") == {"told"}


def test_documents_named_in_code_exist() -> None:
    """A message or comment that sends its reader to a page of docs/ names one that is there, and a heading of it."""
    named = [
        (path, page, anchor)
        for folder in ("extract", "flows", "packaging", "reports", "transform", "warehouse")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".sql", ".csv", ".service", ".toml"} and path.parent.name != "data"
        for page, anchor in re.findall(r"(?<![\w/])docs/([\w-]+\.md)(?:#([\w-]+))?", path.read_text(encoding="utf-8"))
    ]
    assert len(named) > 20
    assert [
        f"{path.relative_to(ROOT)}: {page}" for path, page, _ in named if not (ROOT / "docs" / page).is_file()
    ] == []
    anchors = {page.name: page.read_text(encoding="utf-8").lower().replace(" ", "-") for page in DOCUMENTS}
    assert [f"{path.name}: {page}#{at}" for path, page, at in named if at and f"#-{at}\n" not in anchors[page]] == []


FOLDERS = "bench|client|docs|extract|flows|packaging|tests|tools|transform|warehouse"


def absent_paths(text: str, *, is_new: bool = False) -> set[str]:
    """Return the paths of the repository in a document that are not there; of one that `is_new` its folder counts."""
    named = set(re.findall(rf"`((?:{FOLDERS})/[^`\s:]+)", text))
    ends = {path: re.split(r"[<*…]", path)[0] for path in named}
    places = {
        path: ROOT / (end if end == path and not is_new else end.rpartition("/")[0]) for path, end in ends.items()
    }
    return {path for path, place in places.items() if not place.exists()}


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_in_documents_exist(document: Path) -> None:
    """A file or folder of the repository that a document names is there."""
    is_new = document.name.startswith("adding-")
    assert absent_paths(document.read_text(encoding="utf-8"), is_new=is_new) == set()


def test_an_absent_path_is_seen() -> None:
    """Also the folder of a name to be filled in; a test of a file is looked up by its file."""
    text = "`extract/gone.py` `tests/fixtures/<provider>/` `tests/test_docs.py::test_x` `extract/neoclouds/<x>.py`"
    assert absent_paths(text) == {"extract/gone.py", "tests/fixtures/<provider>/"}
    assert absent_paths("`extract/neoclouds/new.py` `extract/gone/new.py`", is_new=True) == {"extract/gone/new.py"}
