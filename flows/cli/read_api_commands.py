"""The command `mcp`: the read API for programs."""

from datetime import UTC, datetime
from typing import Any

import click

from flows.config import Reader
from flows.shared import output
from warehouse.errors import SettingsError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Address(click.ParamType[tuple[str, int]]):
    """A port of this machine, such as 127.0.0.1:8000 or 8000."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return host and port; fail with what is allowed."""
        host, _, port = str(value).rpartition(":")
        host = host.strip("[]") or LOOPBACK[0]
        if host not in LOOPBACK:
            # There is no login: what is on the network has to do that in front of it.
            self.fail(f"{host!r} is not an address of this machine; allowed: {', '.join(LOOPBACK)}", param, ctx)
        if not port.isdecimal() or not 0 < int(port) < 65536:
            self.fail(f"{port!r} is not a port; write 1 to 65535, such as 127.0.0.1:8000", param, ctx)
        return host, int(port)


@click.command(epilog="Example: chipledger mcp --http 8000")
@click.option("--http", "address", type=Address(), metavar="[HOST:]PORT", help="Answer over HTTP on this machine.")
@click.pass_obj
def mcp(read: Reader, *, address: tuple[str, int] | None) -> None:
    """Serve the published file to programs (MCP).

    A read-only server of the Model Context Protocol: on stdin and stdout, or with --http at /mcp of an address of this
    machine. It needs neither network nor credentials.
    """
    with output.errors(in_json=False):
        try:
            from flows.read_api import server
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] not in ("mcp", "mcp_types"):
                raise
            raise SettingsError(
                "the read API is not installed", field="extra", value="mcp", hint="`uv sync --extra mcp` installs it"
            ) from error
        from importlib.metadata import version

        settings = read()
        api = server.ReadApi(settings.published, lambda: datetime.now(UTC), version=version("chipledger"))
        server.serve(api, address)
