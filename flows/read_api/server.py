"""The read API for programs: tools of the Model Context Protocol over the published file, read-only.

Every answer is an object, as text and as structured content: `file` (when it was built, how old it is), `asked`,
`units` by column, and lists in which no two purchase options are mixed. Null is unknown or does not apply; where a
figure is unknown, `unknown` next to it says why. Observed amounts are text with all their digits, what is computed
from them are numbers, times are UTC. Errors are the objects that `--json` prints on stderr: error, source, field,
value, hint.

Each question is answered by a process of its own, which opens the file anew, so that an answer is always of the newest
one, and a slow question delays no other: free SQL, which may take any time, has processes apart from the other tools.
The private file is never opened.
"""

import inspect
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from flows.read_api.free_sql import MAX_SECONDS
from flows.read_api.published_file import Row, of_one_file, wrong
from flows.read_api.tools import TOOLS
from flows.read_api.tools import query as free_sql
from flows.shared import output
from flows.shared.child import Pool
from warehouse.errors import ChipledgerError, did_you_mean

MAX_CHARACTERS = 1_000_000
"""Of one answer."""
MAX_AT_ONCE = 4
"""Questions of free SQL that are answered at once, and as many of the other tools."""
MAX_WAITING = 28
"""Questions that wait for these, of each; one more is refused."""
ANSWERS = "flows.read_api.answers"
ADDRESS_SPACE_BYTES = 2 * 1024**3
"""Of a process that answers."""

INSTRUCTIONS = (
    "Prices of AI accelerators as they were observed, each with its document. A missing figure is unknown, never zero: "
    "`unknown` says why. Purchase options (on demand, spot, commitments) are lists of their own: never add or average "
    "across them. Say how old a price is (last_observed_at) and whether it is_current. `schema` names the tables for "
    "`query`."
)
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


class ReadApi(MCPServer[Any]):
    """The tools over one published file."""

    def __init__(self, published: Callable[[], Path], clock: Callable[[], datetime], *, version: str = "") -> None:
        self._published = published
        self._clock = clock
        self.pools = {
            is_sql: Pool(ADDRESS_SPACE_BYTES, ANSWERS, size=MAX_AT_ONCE, waiting=MAX_WAITING)
            for is_sql in (False, True)
        }
        # Questions that wait, too, have a thread each.
        self._threads = anyio.CapacityLimiter(len(self.pools) * (MAX_AT_ONCE + MAX_WAITING) + 1)
        self.typed = {answer.__name__: self._typed(answer, title) for answer, title in TOOLS.items()}
        name, tools = "chipledger", [*self.typed.values()]
        super().__init__(name, title=name, version=version, instructions=INSTRUCTIONS, tools=tools, log_level="WARNING")

    def close(self) -> None:
        """End the processes that answer."""
        for pool in self.pools.values():
            pool.close()

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Return the answer of a tool, or the error that says why there is none, both as objects."""
        try:
            if name not in self.typed:
                hint = did_you_mean(name, self.typed)
                raise ChipledgerError("no such tool", source="tools", field="name", value=name, hint=hint)
            return await super().call_tool(name, arguments, context)
        except ChipledgerError as error:
            return _result(error.as_dict(), is_error=True)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                cause = refusal(cause, self.typed[name].parameters["properties"])
            if not isinstance(cause, ChipledgerError):
                raise
            return _result(cause.as_dict(), is_error=True)

    def _typed(self, answer: Callable[..., Row], title: str) -> Tool:
        """Return the tool of a function: its arguments are those of the signature after `book`, and no others."""

        pool = self.pools[answer is free_sql]

        @wraps(answer)
        async def call(**arguments: Any) -> CallToolResult:
            cancelled = threading.Event()

            def of_file(path: Path) -> Row:
                found: Row = pool.ask(
                    f"{ANSWERS}:answer", seconds=arguments.get("seconds", MAX_SECONDS), cancelled=cancelled,
                    path=path, now=self._clock(), tool=answer.__name__, arguments=arguments,
                )  # fmt: skip
                return found

            try:
                found = await anyio.to_thread.run_sync(
                    of_one_file, self._published, of_file, abandon_on_cancel=True, limiter=self._threads
                )
            finally:
                cancelled.set()  # the process that answers, if one still does, is ended
            return _result(found, is_error=False)

        _, *parameters = inspect.signature(answer).parameters.values()
        call.__signature__ = inspect.Signature(parameters, return_annotation=CallToolResult)  # type: ignore[attr-defined]
        tool = Tool.from_function(call, title=title, description=inspect.getdoc(answer), annotations=READS)
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters = model.model_json_schema(by_alias=True)
        return tool


def refusal(error: ValidationError, known: Mapping[str, object]) -> ChipledgerError:
    """Return the error of the first argument that is wrong, with what is allowed; `known` are the tool's arguments."""
    fault = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return wrong("no such argument", field, str(fault["loc"][-1]), f"There are: {', '.join(known)}")
    value = "" if fault["type"] == "missing" else fault["input"]
    return wrong("invalid argument", field, value, fault["msg"].replace("'", ""))


def _result(found: Mapping[str, Any], *, is_error: bool) -> CallToolResult:
    text = output.as_json(found)
    if len(text) > MAX_CHARACTERS:
        hint = "Name fewer things, or give a smaller limit"
        message = f"the answer would have {len(text)} characters"
        raise ChipledgerError(message, source="limits", field="limit", value=MAX_CHARACTERS, hint=hint)
    return CallToolResult(content=[TextContent(text=text)], structured_content=dict(found), is_error=is_error)


def serve(api: ReadApi, address: tuple[str, int] | None) -> None:
    """Answer on stdin and stdout until stdin ends, or at an address of this machine until it is stopped."""
    for pool in api.pools.values():
        pool.warm()
    try:
        if address is None:
            api.run("stdio")
        else:
            host, port = address
            api.run("streamable-http", host=host, port=port, json_response=True, stateless_http=True)
    finally:
        api.close()
