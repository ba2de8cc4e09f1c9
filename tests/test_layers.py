"""The rules of layers: data goes one way, and so do imports.

extract, transform and reports know the warehouse; the warehouse knows none of them; flows alone knows all.
The rules read source text, so an import inside a function or under TYPE_CHECKING counts like any other.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
installed = cache(packages_distributions)
PACKAGES = ("flows", "extract", "transform", "reports", "warehouse")

ALLOWED = {
    "extract": (
        "extract", "warehouse.documents", "warehouse.errors", "warehouse.reference.accelerators",
        "warehouse.reference.cloud_machines",
        "warehouse.reference.instance_types", "warehouse.reference.source_terms", "warehouse.reference.table",
        "warehouse.reference.throughput",
        "warehouse.schema.columns", "warehouse.schema.tables", "warehouse.schema.vocabulary",
    ),
    "warehouse": ("warehouse",),
    "transform": ("transform", "warehouse"),
    "reports": (
        "reports", "warehouse.errors",
        "warehouse.schema.columns", "warehouse.schema.tables", "warehouse.schema.vocabulary",
    ),
    "flows": PACKAGES,
}  # fmt: skip
"""What each package may import of ours: a package with all below it, or single modules."""

FLOW_FILES = ("flows.backfill", "flows.daily", "flows.maintain", "flows.weekly")
"""Prefect loads these by path: they alone import it, and nothing imports them."""

MAX_LINES = 700
"""A file is one subject; one that grows beyond this holds two."""


def imports(tree: ast.Module, root: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of each module a file imports; "." for a relative import."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for name in names:
                    yield node.lineno, name.name
            case ast.ImportFrom(level=level) if level:
                yield node.lineno, "."
            case ast.ImportFrom(module=str(module), names=names):
                for name in names:
                    below = f"{module}.{name.name}"
                    yield node.lineno, below if is_module(below, root) else module
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module


def is_module(dotted: str, root: Path) -> bool:
    """Return whether a dotted name is a module of ours."""
    path = root.joinpath(*dotted.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def within(module: str, allowed: tuple[str, ...]) -> bool:
    """Return whether a module is one of the allowed ones or lies below one."""
    return any(module == name or module.startswith(f"{name}.") for name in allowed)


def offences(root: Path) -> list[str]:
    """Return every breach of the rules of layers under a root, as file:line and what is wrong."""
    found = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            where = path.relative_to(root)
            this = ".".join(where.with_suffix("").parts)
            for line, module in imports(ast.parse(path.read_text(encoding="utf-8")), root):
                top = module.partition(".")[0]
                if module == ".":
                    found.append(f"{where}:{line}: relative import")
                elif top in PACKAGES and not within(module, ALLOWED[package]):
                    found.append(f"{where}:{line}: {package} must not import {module}")
                elif within(module, FLOW_FILES):
                    found.append(f"{where}:{line}: nothing imports the flow file {module}")
                elif top == "prefect" and this not in FLOW_FILES:
                    found.append(f"{where}:{line}: only flow files import prefect")
                elif top == "tests":
                    found.append(f"{where}:{line}: {package} must not import tests")
    return found


def misnamed_flows(root: Path) -> list[str]:
    """Return files and folders in flows/ named like a library: flow files run by path would import them instead."""
    taken = (sys.stdlib_module_names | installed().keys()) - {"__init__"}
    return sorted(path.name for path in (root / "flows").iterdir() if path.stem in taken)


def overlong(root: Path) -> list[str]:
    """Return files of our packages, Python or SQL, longer than a reader wants."""
    files = (path for package in PACKAGES for path in sorted((root / package).rglob("*")))
    return [
        f"{path.relative_to(root)}: {lines} lines"
        for path in files
        if path.suffix in {".py", ".sql"} and (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    ]


def test_imports_go_one_way() -> None:
    """No file of ours imports against the flow of data."""
    assert offences(ROOT) == []


def test_flow_files_hide_no_library() -> None:
    """No file or folder in flows/ bears the name of the standard library's or an installed module."""
    assert misnamed_flows(ROOT) == []


def test_files_stay_short() -> None:
    """A file is one subject, of at most 700 lines."""
    assert overlong(ROOT) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a made-up tree with our packages, a few modules, and no offence."""
    modules = (
        "warehouse/schema/tables",
        "warehouse/errors",
        "warehouse/db",
        "flows/steps",
        "flows/daily",
        "extract/base",
    )
    for name in (*(f"{package}/__init__" for package in PACKAGES), *modules):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("file", "line", "offence"),
    [
        ("extract/x.py", "from warehouse import db", "extract must not import warehouse.db"),
        ("extract/x.py", "import warehouse.db as d", "extract must not import warehouse.db"),
        ("extract/x.py", "from warehouse.db import connect", "extract must not import warehouse.db"),
        ("extract/x.py", "import warehouse", "extract must not import warehouse"),
        ("extract/x.py", "import transform.models", "extract must not import transform.models"),
        ("warehouse/x.py", "from extract.base import Source", "warehouse must not import extract.base"),
        ("transform/x.py", "import reports", "transform must not import reports"),
        ("transform/x.py", "from flows import steps", "transform must not import flows.steps"),
        ("reports/x.py", "from warehouse import db, errors", "reports must not import warehouse.db"),
        (
            "reports/x.py",
            "from importlib import import_module; import_module('transform')",
            "must not import transform",
        ),
        ("reports/x.py", "def f():\n    from extract import base", "reports must not import extract.base"),
        ("flows/x.py", "from flows import daily", "nothing imports the flow file flows.daily"),
        ("flows/daily.py", "from flows.weekly import weekly", "nothing imports the flow file flows.weekly"),
        ("flows/cli.py", "from prefect import flow", "only flow files import prefect"),
        ("reports/x.py", "import prefect.runtime", "only flow files import prefect"),
        ("flows/x.py", "from . import steps", "relative import"),
        ("warehouse/x.py", "from tests import fixtures", "warehouse must not import tests"),
    ],
)
def test_each_offence_is_seen(tree: Path, file: str, line: str, offence: str) -> None:
    """A tree with one offence gives exactly that one."""
    (tree / file).write_text(line, encoding="utf-8")

    (found,) = offences(tree)

    assert found.startswith(f"{file}:")
    assert offence in found


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (
            "extract/x.py",
            "from warehouse.schema.tables import COLUMNS\nfrom warehouse import errors\nimport extract.base",
        ),
        ("transform/x.py", "from warehouse import db"),
        ("reports/x.py", "from warehouse.errors import ChipledgerError"),
        ("flows/daily.py", "import prefect\nfrom flows.steps import collect\nfrom extract import base"),
        ("flows/cli.py", "from flows import steps\nfrom warehouse import db"),
    ],
)
def test_what_is_allowed_passes(tree: Path, file: str, line: str) -> None:
    """The imports that layers are for are no offence."""
    (tree / file).write_text(line, encoding="utf-8")

    assert offences(tree) == []


@pytest.mark.parametrize("name", ["email.py", "polars.py", "calendar.py", "mcp", "email"])
def test_a_flow_named_like_a_library_is_seen(tree: Path, name: str) -> None:
    """A file called email.py is refused in flows/, and so is a folder called mcp."""
    path = tree / "flows" / name
    path.touch() if path.suffix else path.mkdir()

    assert misnamed_flows(tree) == [name]


def test_an_overlong_file_is_seen(tree: Path) -> None:
    """The line after the last allowed one is one too many."""
    (tree / "warehouse/just.py").write_text("x = 1\n" * MAX_LINES, encoding="utf-8")
    (tree / "warehouse/more.sql").write_text("-- x\n" * (MAX_LINES + 1), encoding="utf-8")

    assert overlong(tree) == [f"warehouse/more.sql: {MAX_LINES + 1} lines"]
