"""The read API for programs: tools of the Model Context Protocol over the published file, read-only.

Every answer is an object, as text and as structured content: `file` (when it was built, how old it is), `asked`,
`units` by column, and lists in which no two purchase options are mixed. Null is unknown or does not apply; where a
figure is unknown, `unknown` beside it says why. Amounts that were observed are text with all their digits, what is
computed from them are numbers, times are UTC. Errors are the objects that `--json` prints on stderr: error, source,
field, value, hint.

The file is opened for each answer, so that an answer is always of the newest one. The private file is never opened.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from flows.read_api import inputs, other_tools, price_tools
from flows.read_api.inputs import Input, near
from flows.read_api.published_file import Book, Row, of_one_file, opened
from flows.read_api.query_process import Asker, wire
from flows.shared import output
from warehouse.errors import ChipledgerError

MOST_CHARACTERS = 1_000_000
"""Of one answer."""

INSTRUCTIONS = (
    "Prices of AI accelerators as they were observed, each with its document. A missing figure is unknown, never zero: "
    "`unknown` says why. Purchase options (on demand, spot, commitments) are lists of their own: never add or average "
    "across them. Say how old a price is (last_observed_at) and whether it is_current. `schema` names the tables for "
    "`query`."
)


@dataclass(frozen=True)
class Tool:
    """One tool: its arguments, what it answers with, and what it is told of as."""

    takes: type[Input]
    answer: Callable[[Book, Any], Row]
    title: str
    description: str


class Api:
    """The tools over one published file."""

    def __init__(self, published: Callable[[], Path], clock: Callable[[], datetime]) -> None:
        self._published = published
        self._clock = clock
        self._asker = Asker()
        self._lock = threading.Lock()
        self.tools: Mapping[str, Tool] = {
            "latest_price": Tool(
                inputs.LatestPrice,
                price_tools.latest_price,
                "Latest prices",
                "The last known price of each offer of a chip or machine, by purchase option: amount, per chip-hour, "
                "source, document, when it was last confirmed and whether it is current.",
            ),
            "price_history": Tool(
                inputs.PriceHistory,
                price_tools.price_history,
                "Price history",
                "How the price of each offer of a chip or machine changed over time under one purchase option.",
            ),
            "cheapest": Tool(
                inputs.Cheapest,
                price_tools.cheapest,
                "Cheapest providers of a chip",
                "Who asks least for a chip per chip-hour in US dollars: a list for each purchase option, commitment "
                "and size of purchase; what is not current stands apart.",
            ),
            "cost_per_token": Tool(
                inputs.CostPerToken,
                other_tools.cost_per_token,
                "Cost per token",
                "What a million tokens of a model costs, or a training, by measured runs and known prices, for each "
                "purchase option; with what is not included and what was left out.",
            ),
            "audit_claims": Tool(
                inputs.AuditClaims,
                other_tools.audit_claims,
                "Audit of claims",
                "Whether published numbers hold, on their date and today, with the arithmetic: the shipped claims, or "
                "claims given.",
            ),
            "sources": Tool(
                inputs.Sources,
                other_tools.sources,
                "Sources",
                "Health and freshness of each source: when it was last asked, what came of it, what fails.",
            ),
            "schema": Tool(
                inputs.Schema,
                other_tools.schema,
                "Tables and columns",
                "The tables, views and macros of the file; of one of them each column with meaning and unit.",
            ),
            "query": Tool(
                inputs.Query,
                lambda book, asked: other_tools.query(book, asked, self._asker),
                "SQL",
                "One SELECT in DuckDB's SQL over the published file, read-only, within limits of rows, bytes and time.",
            ),
        }

    def listed(self) -> list[types.Tool]:
        """Return the tools as clients list them."""
        reads = types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        return [
            types.Tool(
                name=name,
                title=tool.title,
                description=tool.description,
                annotations=reads,
                input_schema=tool.takes.model_json_schema(),
            )
            for name, tool in self.tools.items()
        ]

    def call(self, name: str, given: Mapping[str, object]) -> types.CallToolResult:
        """Return the answer of a tool, or the error that says why there is none."""
        try:
            found = self._answer(name, given)
        except ChipledgerError as error:
            return _result(error.as_dict(), is_error=True)
        return _result(found, is_error=False)

    def close(self) -> None:
        """End what was started."""
        self._asker.close()

    def _answer(self, name: str, given: Mapping[str, object]) -> Row:
        tool = self.tools.get(name)
        if tool is None:
            raise ChipledgerError(
                "no such tool",
                source="tools",
                field="name",
                value=name,
                hint=near(name, self.tools) or f"There are: {', '.join(self.tools)}",
            )
        asked = inputs.checked(tool.takes, given)

        def answer(path: Path) -> Row:
            with opened(path, self._clock()) as book:
                return wire({"file": book.described(), **tool.answer(book, asked)})  # type: ignore[no-any-return]

        # One at a time: two connections of a process to one path share what was opened first, an old file too.
        with self._lock:
            found = of_one_file(self._published, answer)
        size = len(output.as_json(found))
        if size > MOST_CHARACTERS:
            raise ChipledgerError(
                f"the answer would have {size} characters",
                source="limits",
                field="limit",
                value=MOST_CHARACTERS,
                hint="Ask for less, or give a smaller limit",
            )
        return found


def _result(found: Mapping[str, Any], *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=output.as_json(found))],
        structured_content=dict(found),
        is_error=is_error,
    )


def server(api: Api, version: str) -> "Server[Any]":
    """Return the server of the protocol with the tools."""

    async def list_tools(
        ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=api.listed())

    async def call_tool(ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        return await anyio.to_thread.run_sync(api.call, params.name, params.arguments or {})

    return Server(
        "chipledger",
        title="chipledger",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve(api: Api, *, version: str, address: tuple[str, int] | None) -> None:
    """Answer on stdin and stdout until stdin ends, or at an address of this machine until it is stopped."""
    made = server(api, version)
    try:
        if address is not None:
            import uvicorn

            host, port = address
            app = made.streamable_http_app(json_response=True, stateless_http=True, host=host)
            uvicorn.run(app, host=host, port=port, log_level="warning")
        else:
            anyio.run(_over_stdio, made)
    finally:
        api.close()


async def _over_stdio(made: "Server[Any]") -> None:
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())
