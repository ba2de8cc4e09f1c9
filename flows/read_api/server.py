"""The read API for programs: tools of the Model Context Protocol over the published file, read-only.

Every answer is an object, as text and as structured content: `file` (when it was built, how old it is), `asked`,
`units` by column, and lists in which no two purchase options are mixed. Null is unknown or does not apply; where a
figure is unknown, `unknown` next to it says why. Observed amounts are text with all their digits, what is computed
from them are numbers, times are UTC. Errors are the objects that `--json` prints on stderr: error, source, field,
value, hint.

The file is opened for each answer, so that an answer is always of the newest one. The private file is never opened.
"""

import inspect
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from flows.read_api.published_file import Row, did_you_mean, of_one_file, opened, similar, wrong
from flows.read_api.query_process import Asker, wire
from flows.read_api.tools import TOOLS
from flows.shared import output
from warehouse.errors import ChipledgerError

MAX_CHARACTERS = 1_000_000
"""Of one answer."""

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
        self._lock = threading.Lock()
        self.asker = Asker()
        self.typed = {answer.__name__: self._typed(answer, title) for answer, title in TOOLS.items()}
        name, tools = "chipledger", [*self.typed.values()]
        super().__init__(name, title=name, version=version, instructions=INSTRUCTIONS, tools=tools, log_level="WARNING")

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Return the answer of a tool, or the error that says why there is none, both as objects."""
        try:
            if name not in self.typed:
                hint = did_you_mean(similar(name, self.typed)) or f"There are: {', '.join(self.typed)}"
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

        @wraps(answer)
        def call(**arguments: Any) -> CallToolResult:
            # A long list is not repeated in the answer.
            stated = {name: value for name, value in arguments.items() if not isinstance(value, list | None)}

            def of_file(path: Path) -> Row:
                with opened(path, self._clock(), self.asker) as book:
                    found = answer(book, **arguments)
                    return {"file": book.described(), "asked": stated | found.pop("asked", {}), **found}

            # One at a time: two connections of a process to one path share what was opened first, an old file too.
            with self._lock:
                found = wire(of_one_file(self._published, of_file))
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
    try:
        if address is None:
            api.run("stdio")
        else:
            host, port = address
            api.run("streamable-http", host=host, port=port, json_response=True, stateless_http=True)
    finally:
        api.asker.close()
