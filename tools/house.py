"""Measure the house: lines, files, imports, names. `python tools/house.py [CHECKOUT]`; the same for any version of it.

Product lines are those of the five packages after `ruff format` without `# fmt: skip` and `# fmt: off`.
A registry is a module whose only work is to list others; what it alone imports is not split for length.
Banned words are those in backticks in the third column of the glossary in CONTRIBUTING.md.
"""

import ast
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "extract", "transform", "reports", "warehouse")
REGISTRIES = {
    "extract.neoclouds", "extract.catalogues", "extract.benchmarks", "flows.cli", "flows.cli.main",
}  # fmt: skip
SKIP = re.compile(r" *# fmt: (skip|off|on)$", re.MULTILINE)


def python_files(root: Path) -> list[Path]:
    """Return the Python files of the product."""
    return [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]


def product_lines(root: Path) -> int:
    """Return lines of Python of the product."""
    return formatted_lines(root, python_files(root))


def reader_lines(root: Path) -> int:
    """Return lines of Python of the reader, a distribution of its own."""
    return formatted_lines(root, sorted((root / "client").rglob("*.py")))


def formatted_lines(root: Path, files: list[Path]) -> int:
    """Return lines of files as ruff formats them where nothing is exempt."""
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            copy = Path(folder) / path.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(SKIP.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
        line_length = re.search(r"^line-length = (\d+)", (root / "pyproject.toml").read_text(encoding="utf-8"), re.M)
        command = [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated", "--target-version", "py311"]
        subprocess.run([*command, "--line-length", line_length[1] if line_length else "88", folder], check=True)
        return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in Path(folder).rglob("*.py"))


def sql_lines(root: Path) -> int:
    """Return lines of SQL files."""
    files = (path for package in PACKAGES for path in (root / package).rglob("*.sql"))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def skips(root: Path) -> int:
    """Return how many lines of the product the formatter is kept from."""
    return sum(len(re.findall(r"# fmt: (?:skip|off)", path.read_text(encoding="utf-8"))) for path in python_files(root))


def modules(root: Path) -> dict[str, Path]:
    """Return each module's dotted name and file."""
    found = {}
    for path in python_files(root):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed(text: str) -> ast.Module:
    """Return what a file says, which takes longer to parse than to measure."""
    return ast.parse(text)


def imports(root: Path) -> dict[str, set[str]]:
    """Return, per module, the modules of ours it imports: at the top, in functions, for types alone."""
    known = modules(root)
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for node in ast.walk(parsed(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names):
                    found[name] |= {each.name for each in names if each.name in known}
                case ast.ImportFrom(module=str(module), names=names):
                    for each in names:
                        below = f"{module}.{each.name}"
                        found[name] |= {below} if below in known else {module} & known.keys()
        found[name].discard(name)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import one another, each sorted."""
    reachable: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        reachable[start] = seen
    groups = {
        tuple(sorted(other for other in reachable[name] if name in reachable[other]))
        for name in graph
        if name in reachable[name]
    }
    return sorted([list(group) for group in groups])


def single_importer(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that exactly one other imports, registries left out."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name, targets in graph.items():
        for target in targets:
            importers[target].add(name)
    return sorted(name for name, by in importers.items() if len(by) == 1 and not by & REGISTRIES)


def settings_files(root: Path) -> list[str]:
    """Return files that define or read settings."""
    folder = root / "flows" / "config"
    files = sorted(folder.glob("*.py")) if folder.is_dir() else sorted((root / "flows").glob("*.py"))
    return [
        path.name
        for path in files
        if path.stem != "__init__"
        and not path.stem.startswith("cli_")
        and (folder.is_dir() or "setting" in path.stem or path.stem == "mail_table")
    ]


def banned_words(root: Path) -> set[str]:
    """Return the words in backticks of the glossary's third column; `MOST_` bans a prefix of constants."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    glossary = text.partition("## Glossary")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|[^|]*\|[^|]*\|([^|]*)\|$", glossary, re.M)
    return {word.strip() for row in rows for cell in re.findall(r"`([^`]+)`", row) for word in cell.split(",")}


def names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of all that a module defines."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of strings of several words: messages, and the help that click takes from docstrings."""
    silent, help_texts = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(decorator_list=decorators, body=[ast.Expr(value=value), *_]) if any(
                re.search(r"\b(command|group|tool)\b", ast.unparse(decorator)) for decorator in decorators
            ):
                help_texts.add(id(value))
            case ast.Expr(value=ast.Constant(value=str()) as value):
                silent.add(id(value))
    silent -= help_texts
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in silent and " " in text.strip():
                yield node.lineno, text


def offences(root: Path, banned: set[str]) -> list[str]:
    """Return each banned word in an identifier, a text for users or a table of words, as file:line: word in text."""
    prefixes = tuple(word for word in banned if word.endswith("_"))
    words = {word for word in banned if not word.endswith("_")}
    pattern = re.compile(rf"\b({'|'.join(sorted(words))})\b", re.IGNORECASE)
    found = []
    for path in python_files(root):
        where = path.relative_to(root)
        tree = parsed(path.read_text(encoding="utf-8"))
        for line, name in [(1, path.stem), *names(tree)]:
            parts = {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
            if parts & words or name.lstrip("_").startswith(prefixes or ("\0",)):
                found.append(f"{where}:{line}: name {name}")
        found += [_offence(where, *each, hit) for each in texts(tree) for hit in pattern.findall(each[1])]
    for path in (path for package in PACKAGES for path in (root / package).rglob("words.csv")):
        lines = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        several = [(number, each["words"]) for number, each in enumerate(lines, start=2) if " " in each["words"]]
        found += [_offence(path.relative_to(root), *each, hit) for each in several for hit in pattern.findall(each[1])]
    return sorted(set(found))


def _offence(where: Path, line: int, text: str, hit: str) -> str:
    return f"{where}:{line}: {hit} in {' '.join(text.split())[:90]!r}"


def environment_bytes(name: str = "chipledger") -> int:
    """Return the size of the files that installing the wheel brings, this project's own and all it requires."""
    waiting, seen, total = [name], set(), 0
    while waiting:
        one = re.split(r"[ ;<>=!~\[(]", waiting.pop(), maxsplit=1)[0].lower().replace("_", "-")
        if one in seen:
            continue
        seen.add(one)
        try:
            installed = distribution(one)
        except PackageNotFoundError:
            continue
        paths = (Path(str(installed.locate_file(file))) for file in installed.files or ())
        total += sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")
        waiting += [each for each in installed.requires or () if "extra ==" not in each]
    return total


def docs(root: Path) -> dict[str, int]:
    """Return words of each page of the documentation that a person reads through; generated pages are left out."""
    pages = (path for path in sorted((root / "docs").glob("*.md")))
    texts_ = {path.name: path.read_text(encoding="utf-8") for path in pages}
    return {name: len(text.split()) for name, text in texts_.items() if "<!-- generated" not in text[:200]}


def measure(root: Path) -> dict[str, int]:
    """Return every figure of a checkout."""
    graph = imports(root)
    pages = docs(root)
    return {
        "python_lines": product_lines(root),
        "reader_lines": reader_lines(root),
        "sql_lines": sql_lines(root),
        "longest_file": max(len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(root)),
        "flat_files_in_flows": len(list((root / "flows").glob("*.py"))),
        "modules_with_one_importer": len(single_importer(graph)),
        "import_circles": len(circles(graph)),
        "format_skips": skips(root),
        "settings_files": len(settings_files(root)),
        "banned_words": len(offences(root, banned_words(ROOT))),
        "docs_pages": len(pages),
        "docs_words": sum(pages.values()),
    }


if __name__ == "__main__":
    checkout = next((Path(each).resolve() for each in sys.argv[1:] if not each.startswith("-")), ROOT)
    if "--offences" in sys.argv:
        print("\n".join(offences(ROOT, banned_words(ROOT))))
    elif "--circles" in sys.argv:
        print("\n".join(" ".join(group) for group in circles(imports(ROOT))))
    elif "--one-importer" in sys.argv:
        counted = Counter(".".join(name.split(".")[:2]) for name in single_importer(imports(ROOT)))
        print("\n".join(single_importer(imports(ROOT))), counted)
    else:
        print(json.dumps(measure(checkout), indent=2))
