"""Pages of the docs site that are made when it is built, and what is checked of it: a hook of MkDocs, for `make docs`.

Made are a page for each source (from its `Source` and its docstring), for each mart (from its SELECT and the
dictionary), the list of sources, for all formulas, all truth checks, the origins of the archive, and every option of
every command; README, CONTRIBUTING and CHANGELOG become pages. None of these is in the repository, so none can differ
from the code. Links to files that are no page become their names, and a built page that would load anything from
another host is an error.
"""

import csv
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    import click
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from extract.base import Source

ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files beside docs/, and the pages that they become."""
FOLDERS = {"mart": "public/", "focus": "focus/"}
"""Folders of transform/sql of marts that are not in `int`, by schema."""
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"(^[ ]*```.*?^[ ]*```[ ]*$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""Tags that make a browser ask for something, and the attribute that says for what."""

SOURCES_HEAD = """\
# Sources

Where two sources price one offer, the one of lower precedence wins (`core.source.precedence`). A source without its
credentials is left out of a run, which says so and goes on. A source that is off is collected where its table of the
[settings](settings.md) says `enabled = true`. A price is current while its source confirmed it within its limit of age;
archives and imports are never current. All are untried live from where this was written; `chipledger check-live` tries
them. `chipledger import` adds a source `import:NAME` for each origin of its file.

| source | what | kind | terms | credentials | precedence | off, because |
| --- | --- | --- | --- | --- | --- | --- |
"""


# --- the pages


def generated() -> dict[str, str]:
    """Return the text of every page that is made, by its path in the site."""
    return {
        **{page: moved((ROOT / name).read_text(encoding="utf-8")) for name, page in ROOT_PAGES.items()},
        **sources(),
        **marts(),
        "formulas.md": formulas(),
        "truth-rules.md": truth_rules(),
        "archive-origins.md": archive_origins(),
        "command-options.md": command_options(),
        "sources.md": sources_page(),
    }


def moved(text: str) -> str:
    """Return a text of the repository's top folder with its links as seen from docs/."""

    def as_seen_from_docs(link: re.Match[str]) -> str:
        target = link["target"]
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        inside = target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"
        return f"{link['image']}[{link['text']}]({inside})"

    return _outside_code(text, lambda prose: LINK.sub(as_seen_from_docs, prose))


def sources() -> dict[str, str]:
    """Return a page for each registered source."""
    from extract import SOURCES

    return {f"sources/{source.name}.md": source_page(source) for source in SOURCES}


def sources_page() -> str:
    """Return the page of all sources, a row for each in the order of precedence."""
    from extract import SOURCES

    lines = SOURCES_HEAD.splitlines()
    for precedence, source in enumerate(SOURCES, start=1):
        cells = (
            f"[`{source.name}`](sources/{source.name}.md)",
            f"[{source.title}]({source.url})",
            source.kind + (", with an archive" if source.backfill and source.kind == "live" else ""),
            f"[terms]({source.terms_url})",
            source.credentials,
            str(precedence),
            source.off_because,
        )
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join([*lines, ""])


def source_page(source: "Source") -> str:
    """Return the page of a source: what it is, its limits and settings, and its module's own words on its quirks."""
    from extract import SOURCES

    module = sys.modules[source.parse.__module__]
    package = module.__name__.rpartition(".")[0]
    told = inspect.getdoc(module) or ""
    if not re.search(r"^1\. ", told, re.MULTILINE) and package in sys.modules:
        told = inspect.getdoc(sys.modules[package]) or told
    hours = None if source.max_age is None else source.max_age.total_seconds() / 3600
    facts = {
        "provider": source.provider,
        "credentials": source.credentials,
        "kind": source.kind + (", with an archive for `chipledger backfill`" if source.backfill else ""),
        "address": f"<{source.url}>" if source.url.startswith("http") else f"`{source.url}`",
        "terms": f"<{source.terms_url}>" if source.terms_url.startswith("http") else source.terms_url,
        "a price is current for": "never: it is of its date"
        if hours is None
        else f"{hours:g} hours after a good fetch",
        "precedence": f"{SOURCES.index(source) + 1}; of two sources of one offer the lower wins",
        "settings": ", ".join(f"`{name}`" for name in ("enabled", *source.settings)) + f" in `[sources.{source.name}]`",
        "client": "polite: obeys robots.txt, pauses between requests" if source.polite else "its own",
        "on": f"only with `enabled = true`: {source.off_because}" if source.off_because else "yes",
    }
    rows = "\n".join(f"| {name} | {_cell(text)} |" for name, text in facts.items())
    return (
        f"# {source.name}\n\n{source.title}.\n\n| what | value |\n| --- | --- |\n{rows}\n\n"
        "[All sources](../sources.md) · [settings](../settings.md) · "
        "[when it breaks](../operating.md#a-source-broke)\n\n"
        f"## What its parser knows\n\nThe docstring of `{_path(module.__name__)}`:\n\n{_markdown(told)}\n"
    )


def marts() -> dict[str, str]:
    """Return a page for each mart of the data dictionary."""
    from transform.models import MACROS, MARTS, PUBLIC

    known: dict[str, Any] = {mart.qualified: mart for mart in (*MARTS, *PUBLIC)}
    known |= {f"mart.{macro.name}": macro for macro in MACROS}
    text = (ROOT / "docs" / "data-dictionary.md").read_text(encoding="utf-8")
    pages = {}
    for part in re.split(r"^### ", text.partition("\n## Columns")[0], flags=re.MULTILINE)[1:]:
        head, row, *rest = part.strip().split("\n\n")
        if head.startswith(("mart.", "int.", "focus.")):
            schema, _, name = head.partition("(")[0].partition(".")
            columns = re.findall(r"`(\w+)`", rest[0]) if rest and re.match("`\\w", rest[0]) else []
            page = f"marts/{name}.md" if schema == "mart" else f"marts/{schema}.{name}.md"
            pages[page] = mart_page(head, row, columns, known.get(f"{schema}.{name}"))
    return pages


def mart_page(head: str, row: str, columns: list[str], mart: Any) -> str:
    """Return the page of a mart: what a row is, its parameters, its columns with their units, and its SELECT."""
    from warehouse.schema.columns import columns as declared
    from warehouse.schema.columns import focus_columns

    lines = [f"# {head.partition('(')[0]}", "", f"A row: {row[0].lower() + row[1:] if row[1:2].islower() else row}", ""]
    if parameters := getattr(mart, "parameters", None):
        call = ", ".join(parameters.values())
        lines += [
            "A table macro, called with its parameters in this order:",
            "",
            "| parameter | example |",
            "| --- | --- |",
        ]
        lines += [f"| `{name}` | `{example}` |" for name, example in parameters.items()]
        lines += ["", "```sql", f"from {head.partition('(')[0]}({call});", "```", ""]
    lines += ["## Columns", "", "| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
    for name in columns:
        column = declared().get(name) or focus_columns().get(name)
        told = (column.type, column.unit, column.meaning) if column else ("", "", "what the name says")
        lines.append(f"| `{name}` | {' | '.join(map(_cell, told))} |")
    if mart is not None:
        is_public = getattr(mart, "schema", "") == "mart"
        if is_public:
            lines += ["", "## Example", "", "```sql", f"{mart.example};", "```"]
        file = f"`transform/sql/{FOLDERS.get(mart.schema, '') if hasattr(mart, 'schema') else ''}{mart.name}.sql`"
        asked = f"`select sql from meta.model where name = '{'mart.' if is_public else ''}{mart.name}'`"
        lines += ["", "## SQL", "", f"{file}, and in the published file: {asked}.", ""]
        lines += ["```sql", mart.sql.strip(), "```"]
    else:
        lines += ["", "No one SELECT makes it: it is written when the file is published."]
    return "\n".join([*lines, "", "[All columns](../data-dictionary.md) · [questions and answers](../querying.md)", ""])


def formulas() -> str:
    """Return the page of all formulas: what each gives, its parameters, and its SQL."""
    from transform.formula import formulas as every_formula

    lines = [
        "# Every formula", "",
        "Scalar macros of the published file, in schemas by topic. NULL in gives NULL out; a value that a parameter "
        "cannot have is an error that names it. [Formulas](methodology.md) says how the marts use them.", "",
    ]  # fmt: skip
    schema = ""
    for formula in every_formula():
        if formula.schema != schema:
            schema = formula.schema
            lines += [f"## {schema}", ""]
        call = f"{schema}.{formula.name}({', '.join(each.declaration for each in formula.parameters)})"
        lines += [f"### {schema}.{formula.name}", "", f"`{call}`: {formula.meaning}.", ""]
        lines += ["| parameter | may be |"]
        lines += ["| --- | --- |"]
        lines += [f"| `{parameter.declaration}` | {parameter.domain.value[1]} |" for parameter in formula.parameters]
        lines += ["", "```sql", formula.sql.strip(), "```", ""]
    return "\n".join(lines)


def truth_rules() -> str:
    """Return the page of all truth checks: what each compares, its limits, and what to do where it differs."""
    from warehouse.reference.prepared import TRUTH_RULES

    lines = [
        "# Every truth check", "",
        "[Truth checks](auditing-a-claim.md#truth-checks) compare the prices of each publication. "
        "The published file has this table as `ref.truth_rule`.", "",
        "| check | group | what its value is | holds within | what to do where it differs |",
        "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, group, meaning, low, high, unit, advice, _ in (row.values() for row in TRUTH_RULES.read()):
        limits = "by chip" if low is None else f"{low:g} to {high:g}"
        lines.append(f"| `{name}` | {group} | {meaning} | {limits} {unit} | {advice} |")
    return "\n".join([*lines, ""])


def archive_origins() -> str:
    """Return the page of the origins of the archive in the package: what each gave, when, and under which terms."""
    from extract import price_archive

    lines = [
        "# Where the archive is from", "",
        "Origins of `price_archive`, from `extract/archive/origins.csv`. [The offline archive](offline-archive.md) "
        "explains evidence and terms.", "",
        "| origin | what | rows | days | where it was read | evidence | terms |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, origin in price_archive.origins().items():
        with (ROOT / "extract" / "archive" / "prices" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            days = sorted(row["observed_at_utc"][:10] for row in csv.DictReader(file))
        url = origin["source_url"]
        cells = (
            f"`{name}`",
            origin["what"],
            str(len(days)),
            days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}",
            f"[{'/'.join(url.split('/')[3:5])}]({url})",
            origin["evidence_kind"],
            f"[{origin['terms']}]({origin['terms_url']})",
        )
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join([*lines, ""])


def command_options() -> str:
    """Return the page of every command with its arguments and options, in the words of `--help`."""
    from flows.cli.main import main

    head = (
        "# Every option\n\nThe `--help` of each command, made from the program. [Commands](commands.md) has "
        "their purpose and their JSON.\n"
    )
    return "\n".join([head, *_options("chipledger", main), *_commands("chipledger", main)])


def _commands(path: str, group: "click.Group") -> Iterator[str]:
    import click

    for name in group.list_commands(click.Context(group)):
        command = group.commands[name]
        if not command.hidden:
            yield f"## {path} {name}\n"
            yield (inspect.cleandoc(command.help or "").replace("\b\n", "") or command.get_short_help_str()) + "\n"
            if command.epilog:
                label, _, example = command.epilog.partition(": ")
                yield f"{label}: `{example}`\n"
            yield from _options(f"{path} {name}", command)
            if isinstance(command, click.Group):
                yield from _commands(f"{path} {name}", command)


def _options(path: str, command: "click.Command") -> Iterator[str]:
    import click

    from flows.cli.main import main

    # click keeps the first help option that a command is given, so it has to be the one that people get.
    context = click.Context(command, info_name=path, **main.context_settings)
    yield f"```\n{path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    records = [record for option in command.params if (record := option.get_help_record(context)) and record[1]]
    if records:
        yield "| option | what it does |\n| --- | --- |"
        yield from (f"| `{_cell(option)}` | {_cell(text)} |" for option, text in records)
        yield ""


# --- words


def _cell(text: str) -> str:
    """Return a text as it may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _path(module: str) -> str:
    """Return the file or folder of a module, as seen from the top of the repository."""
    path = module.replace(".", "/")
    return f"{path}/" if (ROOT / path).is_dir() else f"{path}.py"


def _markdown(docstring: str) -> str:
    """Return a docstring as Markdown: its addresses are links, what looks like a tag, a link or a star is none."""

    def linked(prose: str) -> str:
        plain = re.sub(r"[\[*]", r"\\\g<0>", re.sub(r"<(?=\w)", "&lt;", prose))
        return re.sub(r"(?<![<(])https?://[^\s,;)]+[^\s,;.:)]", r"<\g<0>>", plain)

    return _outside_code(docstring, linked)


def _outside_code(text: str, change: Any) -> str:
    """Return a Markdown text in which all but code is changed."""
    return "".join(part if index % 2 else change(part) for index, part in enumerate(CODE.split(text)))


def without_files(text: str, place: str, pages: set[str]) -> str:
    """Return a page's text with links to repository files that are no page replaced by what the links say.

    `place` is the page's path in the site, `pages` are the paths of everything in the site.
    """

    def replaced(link: re.Match[str]) -> str:
        target, _, anchor = link["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        path = _resolved(PurePosixPath("docs") / PurePosixPath(place).parent / target)
        if path in ROOT_PAGES:
            up = "../" * (len(PurePosixPath(place).parts) - 1)
            return f"[{link['text']}]({up}{ROOT_PAGES[path]}{'#' * bool(anchor)}{anchor})"
        if path.removeprefix("docs/") in pages or not (ROOT / path).exists():
            return link[0]  # what leads nowhere is left for MkDocs to name
        return f"`{path}`" if link["text"] in {path, path.rpartition("/")[2]} else f"{link['text']} (`{path}`)"

    return _outside_code(text, lambda prose: LINK.sub(replaced, prose))


def deepened(text: str) -> str:
    """Return a Markdown text whose list items go on four columns in, as Python-Markdown wants it.

    GitHub takes two or three. Code in a list moves with its fence, so that it stays as it was.
    """
    lines, fence, shift = [], "", 0
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        opens = line.lstrip(" ").startswith("```")
        if not fence:
            shift = 4 - indent if indent in {2, 3} else 0
        if opens:
            fence = "" if fence else "```"
        lines.append(" " * shift + line if line.strip() else line)
    return "\n".join(lines)


def _resolved(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            del parts[-1:]
        else:
            parts.append(part)
    return "/".join(parts)


class Loads(HTMLParser):
    """What a page makes a browser ask of other hosts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes: Mapping[str, str | None] = dict(attrs)
        address = attributes.get(LOADING.get(tag, "")) or ""
        if re.match(r"(https?:)?//", address) and attributes.get("rel") != "canonical":
            self.found.append(address)


def loaded_from_elsewhere(html: str) -> list[str]:
    """Return the addresses of other hosts that a page would load."""
    loads = Loads()
    loads.feed(html)
    return loads.found


# --- MkDocs's own events


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Put the made pages into the navigation."""
    found = generated_names()
    for section in config.nav or []:
        for entry in next(iter(section.values())):
            if isinstance(entry, dict) and (made := found.get(next(iter(entry)))):
                entry[next(iter(entry))] = made
    return config


def generated_names() -> dict[str, list[dict[str, str]]]:
    """Return, for each section of the navigation that is filled here, its entries: title and path."""
    from extract import SOURCES

    return {
        "Each source": [{source.name: f"sources/{source.name}.md"} for source in SOURCES],
        "Each mart": [{Path(path).stem: path} for path in marts()],
    }


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the made pages."""
    from mkdocs.structure.files import File

    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Replace the links that lead out of the site, and indent lists as the builder wants them."""
    return without_files(deepened(markdown), page.file.src_uri, {file.src_uri for file in files})


def on_post_build(config: "MkDocsConfig") -> None:
    """Refuse a site that would ask another host for anything."""
    from mkdocs.exceptions import PluginError

    for page in Path(config.site_dir).rglob("*.html"):
        if found := loaded_from_elsewhere(page.read_text(encoding="utf-8")):
            raise PluginError(f"{page} would load {found[0]} from another host")
