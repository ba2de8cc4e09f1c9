"""A small published file and the official client, for tests of the read API."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from anyio.from_thread import start_blocking_portal
from cost_file import P5, neocloud, run
from kept import once
from looks import START, Row, row
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from purchase import block, plan, putting, seen, spot, term

from warehouse.log import db
from warehouse.reference import throughput

Call = Callable[..., dict[str, Any]]

PRIVATE_FIGURE = 31.415926
"""Stands in the private file, and may stand in no answer."""


def published_now(base: pytest.TempPathFactory) -> Path:
    """Return the folder of the file, made once for all tests: read it, or copy it."""
    return once(base, "mcp", publish_now)


def publish_now(folder: Path) -> Path:
    """Publish prices of three months to this minute: every option of a p5.48xlarge, and clouds of all kinds."""
    now = (datetime.now(UTC) - START).total_seconds() / 86400
    clouds: list[Row] = [
        neocloud("H100 SXM", "3.5", tier="dedicated"), neocloud("H100 SXM", "2.5"),
        neocloud("H100 SXM", "2.1", statistic="floor"),
        neocloud("H100 SXM", "20", "8", pricing_currency="EUR"), neocloud("H100", "1.5"),
        neocloud("H100 SXM", "2.75", tier="market", statistic="median"), neocloud("A100 80GB", "1.25"),
        neocloud("H100 SXM", "1.9", tier="by the minute", purchase_option="spot"),
    ]  # fmt: skip
    committed = term(P5, "38", "No", "0")
    with db.writer(folder) as con:
        throughput.append(con, [run()])
    with putting(folder, all_marts=True) as put:
        return put(
            seen(now - 90, "aws_price_list", row(P5, "98.32"), row("p4d.24xlarge", "32.7726"), committed),
            seen(now - 30, "aws_price_list", *clouds, row(P5, "55.04"), committed),
            seen(now, "aws_price_list", *clouds, row(P5, "55.04"), committed),
            seen(now - 5, "aws_spot", spot(P5, "use1-az1", "20"), spot(P5, "use1-az2", "30.123456789")),
            seen(now, "aws_savings_plans", plan(P5, "40")),
            seen(now, "aws_capacity_block_rates", block(P5, "41.528", None)),
            at=now,
        )  # fmt: skip


def doubt(file: Path, instance_type: str) -> None:
    """Let a later on-demand price of a machine wait in quarantine."""
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute(
            "insert into core.quarantine by name select 1 as quarantine_id, offer_id, 'it moved too far' as reason, "
            "now()::timestamp + interval 1 hour as observed_at, now()::timestamp as recorded_at from core.offer "
            "where instance_type = ? and purchase_option = 'on_demand'",
            [instance_type],
        )


def put_private(folder: Path) -> None:
    """Lay a private file beside the published one."""
    with duckdb.connect(str(folder / "private.duckdb")) as con:
        con.execute("create table fleet_cost (contracted_price_per_node_hour DOUBLE)")
        con.execute("insert into fleet_cost values (?)", [PRIVATE_FIGURE])


def replace_by(file: Path, version: str) -> None:
    """Replace the published file by one of another version, as a run does."""
    part = file.with_name("part.duckdb")
    shutil.copy(file, part)
    part.chmod(0o644)
    with duckdb.connect(str(part)) as con:
        con.execute("update meta.build set version = ?", [version])
    part.rename(file)


@contextmanager
def client(folder: Path) -> Iterator[tuple[Call, list[Any]]]:
    """Start `chipledger mcp` on a data directory, and give a function that calls a tool, and the tools.

    An answer is the structured content, held against the text beside it; an error has the key `error`.
    """
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from flows.cli.main import main; main()", "--data-dir", str(folder), "mcp"],
        cwd=folder,
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as talking:

        def call(tool: str, **given: object) -> dict[str, Any]:
            found = portal.call(talking.call_tool, tool, given)
            (text,) = found.content
            assert json.loads(text.text, parse_float=Decimal) == json.loads(
                json.dumps(found.structured_content), parse_float=Decimal
            )
            assert found.is_error == ("error" in found.structured_content)
            return dict(found.structured_content)

        yield call, portal.call(talking.list_tools).tools
