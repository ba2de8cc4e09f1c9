"""The command for developers, in a checkout only: `new-source`."""

import runpy
from pathlib import Path
from typing import Any

import click

from flows.shared import output
from warehouse.errors import SettingsError

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "new_source.py"


@click.command(
    "new-source",
    epilog='Example: chipledger new-source northgpu prices.json --provider "North GPU"',
)
@click.argument("name")
@click.argument("answer", metavar="URL-OR-FILE", required=False)
@click.option("--provider", default="", help="The provider's name, as its site writes it.")
@click.option("--url", default="", help="The address of a saved answer.")
@click.option("--terms", default="", help="The address of the provider's terms.")
@click.option("--rows", is_flag=True, help="Write the expected rows of an existing source again.")
def new_source(name: str, answer: str | None, *, provider: str, url: str, terms: str, rows: bool) -> None:
    """Write code and tests of a new provider. It works in a checkout only. docs/adding-a-provider.md has the steps."""
    with output.errors(in_json=False):
        if not TOOL.is_file():
            hint = "Clone the repository, run `make setup` and call it there"
            raise SettingsError("this command works in a checkout only", field="new-source", value=ROOT, hint=hint)
        if rows == bool(answer):
            raise SettingsError("expected either URL-OR-FILE or --rows", field="URL-OR-FILE", value=answer)
        tool = runpy.run_path(str(TOOL))
        if answer is None:
            paths = [tool["write_rows"](name)]
        else:
            body, address = _answer(answer)
            paths = tool["write"](name, body, url=url or address, provider=provider, terms=terms)
        for path in paths:
            output.echo(f"wrote {path.relative_to(ROOT)}")
        _next_steps(name, tool)


def _answer(answer: str) -> tuple[bytes, str]:
    """Return the bytes of a file, or of an address through the polite client, and the address."""
    if not answer.startswith(("https://", "http://")):
        from flows.shared import user_file

        return user_file.read(Path(answer)), ""
    from extract.web.http import HttpWeb
    from extract.web.polite import PoliteWeb

    return PoliteWeb(HttpWeb()).get(answer, accept="application/json, text/html").body, answer


def _next_steps(name: str, tool: dict[str, Any]) -> None:
    """Print what is left to do."""
    questions = tool["questions"](name)
    for field, question in questions.items():
        output.echo(f"TODO {field}: {question}")
    if questions:
        output.echo(f"The source refuses to work until each is filled in. Then: chipledger new-source {name} --rows")
    else:
        output.echo("Compare each expected row with the answer by hand; docs/adding-a-provider.md has the next steps.")
