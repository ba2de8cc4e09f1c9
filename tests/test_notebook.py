"""docs/explore.py, a marimo notebook: every question in it runs, and its cells agree on their names."""

import ast
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

NOTEBOOK = Path(__file__).parent.parent / "docs" / "explore.py"
ASKED = {"chip": "H100", "moment": "2026-01-01"}


def cells() -> list[ast.FunctionDef]:
    """Return the functions that marimo takes for cells."""
    tree = ast.parse(NOTEBOOK.read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_question_is_answered(offline_run: Path) -> None:
    """Each SQL text gives rows on the file of an offline run, with the values that its cell binds."""
    questions = [
        call.args[0].value
        for cell in cells()
        for call in ast.walk(cell)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "execute"
        and isinstance(call.args[0], ast.Constant)
        and not call.args[0].value.startswith("set ")
    ]
    assert len(questions) == 7
    with duckdb.connect(str(offline_run / "prices.duckdb"), read_only=True) as con:
        for question in questions:
            values = {name: value for name, value in ASKED.items() if f"${name}" in question}
            assert con.execute(question, values).fetchall(), question


def test_cells_ask_for_what_others_return() -> None:
    """What a cell takes, one before it gives; no name is given twice, which marimo refuses."""
    given: list[str] = []
    for cell in cells():
        assert {argument.arg for argument in cell.args.args} <= set(given), cell.lineno
        last = cell.body[-1]
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple):
            given += [name.id for name in last.value.elts if isinstance(name, ast.Name)]
    assert sorted(given) == sorted(set(given))


def test_the_connection_reaches_nothing_else() -> None:
    """The notebook opens the file read-only, and shuts itself off before it asks."""
    first = ast.unparse(cells()[0])
    assert "read_only=True" in first
    assert first.index("enable_external_access = false") < first.index("lock_configuration = true")


def test_the_file_of_make_run_is_found(tmp_path: Path, offline_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by `chipledger query`: where nothing else was published, the archive's is read."""
    (tmp_path / "offline").symlink_to(offline_run)
    monkeypatch.setenv("CHIPLEDGER_DATA_DIR", str(tmp_path))
    for name in ("altair", "marimo"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace())
    names: dict[str, Any] = {}
    exec(compile(ast.Module(cells()[0].body[:-1], []), NOTEBOOK, "exec"), names)  # noqa: S102 - our own
    with names["con"] as con:
        assert con.execute("select count(*) from meta.build").fetchall() == [(1,)]
