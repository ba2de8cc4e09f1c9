"""Ranking by price happens in transform/sql alone: elsewhere SQL and Python order by rank or date."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MONEY = re.compile(r"\b\w*(?:price|usd|hourly)\w*\b|\bcost_\w+|\w+_cost\b", re.IGNORECASE)
NOT_MONEY = re.compile(
    r"\b\w*_rank(?:ed)?\b|\bprice_(?:list|level|index|change|history|now|point)\b|\b\w+_ratio\b|[!=]= .price."
)
PICKING = re.compile(r"\b(?:min|arg_min|min_by|arg_max|max_by)\s*\(", re.IGNORECASE)
ORDERING = re.compile(r"\border\s+by\b", re.IGNORECASE)
PYTHON_SORTS = {"min", "max", "sorted", "sort", "arg_min", "arg_max", "bottom_k", "top_k", "nsmallest", "sort_by"}

ALLOWED = {
    ("reports/sql/chart_price.sql", "arg_min"): "the lower edge of one provider's lines over time; names no cheapest",
    ("reports/sql/chart_price.sql", "min"): "the same",
    ("reports/sql/week_move.sql", "arg_min"): "one of several equal moves of one provider stands for all of them",
    ("reports/sql/week_move.sql", "min"): "the same",
    ("reports/sql/week_offer.sql", "min"): 'the least of one provider\'s new offers of a week, shown as "from"',
    ("reports/sql/week_also.sql", "min"): 'the least of one provider\'s offers that came or went, shown as "from"',
    ("reports/sql/withdrawn.sql", "order by"): "the largest error first: a price against its own correction",
    ("reports/sql/week_taken_back.sql", "order by"): "the largest error first: a price against its own correction",
    (
        "reports/sql/cost_model.sql",
        "min",
    ): "the rows of a table, of costs that int.model_token_cost chose; names no cheapest",
    ("reports/sql/cost_model.sql", "order by"): "the same",
    ("reports/sql/chart_frontier.sql", "arg_min"): "the cost of the offer with the best cost_rank",
}
"""What may order by an amount outside of transform/sql, and why."""


def rankings(text: str) -> Iterator[str]:
    """Yield how a SELECT ranks by an amount of money: the words of each place."""
    plain = re.sub(r"--.*", "", text)
    for found in PICKING.finditer(plain):
        if _is_money(_within(plain, found.end())):
            yield found[0].rstrip("( \n").lower()
    for found in ORDERING.finditer(plain):
        rest = plain[found.end() :]
        end = _ends(rest)
        if _is_money(rest[:end]):
            yield "order by"


def sorts(source: str) -> Iterator[str]:
    """Yield how Python ranks by an amount of money: in calls that sort or pick, sort keys, and SQL of its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            keys = [each.value for each in node.keywords if each.arg in ("key", "by")]
            keys += node.args if name in {"sort", "bottom_k", "top_k", "sort_by", "arg_min"} else []
            if name in PYTHON_SORTS and any(_is_money(ast.unparse(each)) for each in keys):
                yield f"{name} (line {node.lineno})"
        elif isinstance(node, ast.FunctionDef) and node.name.lstrip("_") in {"order", "by_price", "sort_key"}:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value and _is_money(ast.unparse(inner.value)):
                    yield f"{node.name} (line {inner.lineno})"
    joined = re.sub(r'"\s*\n\s*f?"', "", source)
    for found in ORDERING.finditer(joined):
        rest = joined[found.end() :]
        if _is_money(rest[: _ends(rest)]):
            yield "order by"


def _is_money(text: str) -> bool:
    return bool(MONEY.search(NOT_MONEY.sub("", text)))


def _within(text: str, start: int) -> str:
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return text[start:at]
    return text[start:]


def _ends(rest: str) -> int:
    """Return where an ORDER BY ends: at its bracket's end, or at the next clause."""
    depth = 0
    for found in re.finditer(r"[()\"';]|\b(?:limit|rows|range|offset|union)\b", rest, re.IGNORECASE):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            if not depth:
                return found.start()
            depth -= 1
        elif not depth:
            return found.start()
    return len(rest)


def found_in(root: Path) -> list[tuple[str, str]]:
    """Return file and words of each place outside of transform/sql that ranks by an amount, of what is not allowed."""
    found = []
    for path in sorted(root.glob("reports/sql/*.sql")):
        found += [(str(path.relative_to(root)), words) for words in rankings(path.read_text(encoding="utf-8"))]
    for folder in ("flows", "reports"):
        for path in sorted((root / folder).glob("*.py")):
            found += [(str(path.relative_to(root)), words) for words in sorts(path.read_text(encoding="utf-8"))]
    return [each for each in found if (each[0], each[1].partition(" (")[0]) not in ALLOWED]


def test_nothing_ranks_by_price_outside_of_transform() -> None:
    assert found_in(ROOT) == []


def test_what_is_allowed_is_there() -> None:
    """An exception that nothing needs any more is taken off the list."""
    there = {
        (name, words)
        for name in {name for name, _ in ALLOWED}
        for words in rankings((ROOT / name).read_text(encoding="utf-8"))
    }
    assert set(ALLOWED) - there == set()


def test_a_ranking_is_seen(tmp_path: Path) -> None:
    """In SQL and Python, however it is written; order by a rank, by a date or in brackets of another clause is none."""
    for folder in ("reports/sql", "flows"):
        (tmp_path / folder).mkdir(parents=True)
    sql = tmp_path / "reports" / "sql" / "x.sql"
    for text in (
        "select min(cheapest_price_usd) from t", "select arg_min(a, (price_usd, b)) from t",
        "select row_number() over (partition by a order by not b, hourly_price) from t",
        "select a from t order by a, coalesce(cheapest_price_usd, 1)", "select a from t\norder by\n  usd_total desc",
    ):  # fmt: skip
        sql.write_text(text)
        assert len(found_in(tmp_path)) == 1, text
    for text in (
        "select a from t order by price_rank", "select min(price_rank) from t -- order by price",
        "select row_number() over (order by at) as n, price_usd from t", "select a from t order by a limit 1",
    ):  # fmt: skip
        sql.write_text(text)
        assert found_in(tmp_path) == [], text
    sql.unlink()
    python = tmp_path / "flows" / "x.py"
    for text in (
        'best = min(rows, key=lambda row: row["cheapest_price_usd"])', 'rows.sort(key=lambda row: row.price)',
        'frame.sort("cost_usd")', 'ask("select a from t order by price_usd limit 1")',
        'def _order(row):\n    return row["is_current"], row["usd"]', 'ask("select a "\n    "order by a, price_usd")',
    ):  # fmt: skip
        python.write_text(text)
        assert len(found_in(tmp_path)) == 1, text
    for text in ('rows.sort(key=lambda row: row["price_rank"])', 'ask("select price_usd from t order by a")'):
        python.write_text(text)
        assert found_in(tmp_path) == [], text
