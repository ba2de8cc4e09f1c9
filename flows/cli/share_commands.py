"""The commands of the section Share: reports, mail, alerts, exports, the read API."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.cli.command import Result, as_sources, command
from flows.config import Reader
from warehouse.errors import SettingsError, count

if TYPE_CHECKING:
    from flows.config.settings import Settings

WEEK = click.option("--week", metavar="2025-W26", help="ISO week. Default: the last one that was over.")
KNOWN_THEN = click.option(
    "--known-then", is_flag=True, help="From what was known when the week ended, not from what is known now."
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SUFFIXES = {"focus-sku-price": ".csv", "xlsx": ".xlsx", "dbt": ".yml"}
"""Exports that are one file, and how its name must end."""
LISTS_ONLY = ("focus-sku-price", "skypilot", "dbt")
"""Exports that have nothing private."""


@command("report weekly --week 2025-W26", cls=click.Group, invoke_without_command=True)
def report(read: Reader) -> Result:
    """Write the report, and print where it is.

    The report of the published file; `report weekly` writes that of a week.
    """
    from flows.collect import publisher
    from reports.pages import guard

    chosen: Settings = read().shown()
    with guard.noted() as faults:
        page = str(publisher.write_pages(chosen, chosen.published(), draw=True)[0])
    notes = [f"part of a page could not be made: {fault}" for fault in faults]
    return Result({"report": page, "page_faults": list(faults)}, [page], notes, is_failed=bool(faults))


@command("report weekly --week 2025-W26", group=report)
@WEEK
@KNOWN_THEN
def weekly(read: Reader, *, week: str | None, known_then: bool) -> Result:
    """Write the page of a week, and print where it is. A week is Monday to Sunday, UTC."""
    from flows.mail import weekly_steps

    written = weekly_steps.report(read(), week, known_then=known_then)
    return _written("report", written.page, written.faults)


@command("mail --dry-run")
@WEEK
@KNOWN_THEN
@click.option("--dry-run", is_flag=True, help="Send nothing; write the message as an .eml file and print where it is.")
@click.option("--again", is_flag=True, help="Also where it may have arrived, or the address was refused for good.")
def mail(read: Reader, *, week: str | None, known_then: bool, dry_run: bool, again: bool) -> Result:
    """Send the weekly mail once to each recipient.

    Recipients are those of [mail] who do not have it yet. The same week is never sent twice to the same person; what
    failed is sent by the next call for that week.
    """
    from flows.collect import steps
    from flows.mail import weekly_steps

    chosen = read()
    if dry_run:
        page = weekly_steps.report(chosen, week, known_then=known_then, clock=steps.utc_now)
        return _written("message", *weekly_steps.put_message(chosen, page, clock=steps.utc_now))
    outcome = weekly_steps.send(chosen, week, known_then=known_then, again=again, clock=steps.utc_now)
    names = ("week", "sent", "already", "failed", "uncertain", "rejected", "faults")
    result = {name: getattr(outcome, name) for name in names} | {"quiet": bool(outcome.left_out)}
    return Result(result, weekly_steps.lines(outcome), is_failed=not outcome.is_good)


def _written(name: str, file: Path, faults: Sequence[str]) -> Result:
    """Return a file that was written; failed, with a note for each, where parts of it could not be made."""
    notes = [f"could not be made: {fault}" for fault in faults]
    return Result({name: str(file)}, [str(file)], notes, is_failed=bool(faults))


@command("alert --dry-run")
@click.option("--dry-run", is_flag=True, help="Print what would be sent; send and record nothing.")
def alert(read: Reader, *, dry_run: bool) -> Result:
    """Send news of prices, chips, sources and claims.

    News: a list price moved, a chip is new, a source is stale, a claim has another verdict. `run` does the same at its
    end. The first time sets the baseline; no channel gets the same item twice.
    """
    from flows.alerts import deliver
    from flows.collect import steps

    chosen = read()
    if dry_run:
        baseline, messages = deliver.preview(chosen, clock=steps.utc_now)
        preview = {"baseline": baseline, "messages": [{"title": one.title, "text": one.text} for one in messages]}
        lines = [f"first run, recorded and not sent: {kind}" for kind in baseline]
        lines += [f"{one.title}\n\n{one.text}\n" for one in messages]
        return Result(preview, lines or ["nothing to send"])
    outcome = deliver.send_due(chosen, clock=steps.utc_now)
    result = {name: getattr(outcome, name) for name in ("baseline", "sent", "failed", "uncertain")}
    return Result(result, deliver.lines(outcome), is_failed=not outcome.is_good)


@command("export prices.xlsx --as xlsx")
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["parquet", "csv"]), help="Of the files in the folder [parquet].")
@click.option("--mart", "names", multiple=True, help="Only this table; may repeat. See `query --list`.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["focus-sku-price", "skypilot", "opencost", "karpenter", "dbt", "xlsx"]),
    help="FOCUS SkuPrice (CSV), a folder for SkyPilot, OpenCost or Karpenter, dbt's sources (YAML), or a workbook.",
)
@click.option("--with-private", is_flag=True, help="Your fleet and contracted prices too, in files for you alone.")
@click.option("--force", is_flag=True, help="Replace existing files.")
def export(
    read: Reader,
    *,
    target: Path,
    form: str | None,
    names: tuple[str, ...],
    kind: str | None,
    with_private: bool,
    force: bool,
) -> Result:
    """Write the published prices for other tools.

    Writes to TARGET: the public tables into a folder, or one file for another tool.
    """
    if kind and (form or names):
        raise click.UsageError(f"--as {kind} sets format and content: leave --format and --mart.")
    if kind in LISTS_ONLY and with_private:
        raise click.UsageError(f"--as {kind} contains list prices only: leave --with-private.")
    if kind in SUFFIXES and target.suffix.lower() != SUFFIXES[kind]:
        raise click.UsageError(f"--as {kind} writes one file: its name must end in {SUFFIXES[kind]}.")
    if kind not in SUFFIXES and target.suffix in (".csv", ".parquet", ".json", ".xlsx", ".yml") and not target.is_dir():
        one = "--as focus-sku-price or xlsx, or `chipledger query --output`, writes one file"
        raise click.UsageError(f"{target} would be a folder of several files: name it without {target.suffix}; {one}.")
    from flows.export import exporting, machines, skypilot

    kinds: dict[str | None, Any] = {"focus-sku-price": exporting.focus, "xlsx": exporting.workbook}
    kinds |= {"dbt": exporting.dbt, "skypilot": skypilot.export}
    kinds |= {"opencost": machines.opencost, "karpenter": machines.karpenter}
    kinds |= {None: partial(exporting.marts, form=form or "parquet", names=names)}
    private = {} if kind in LISTS_ONLY else {"with_private": with_private}
    written = kinds[kind](read.published(), target, force=force, **private)
    lines = []
    for one in written:
        left_out = sorted(one.left_out.items())
        lines += [f"{one.file}: {count(one.rows, 'row')}", *(f"  left out, {reason}: {n:,}" for reason, n in left_out)]
    return Result([asdict(one) for one in written], lines)


@command("release site/ --url https://prices.example.org")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--verify", is_flag=True, help="Check a release against its CHECKSUMS instead; write nothing.")
@click.option(
    "--with-source", "also", multiple=True, callback=as_sources, help="This source too, as you decide; may repeat."
)
@click.option("--url", default="", help="Address at which FOLDER will be served: for sitemap, feed and citation.")
@click.option("--doi", default="", help="DOI for the citation.")
def release(read: Reader, *, folder: Path, verify: bool, also: tuple[str, ...], url: str, doi: str) -> Result:
    """Write a day of what may be published again.

    Writes FOLDER/YYYY-MM-DD, which never changes, FOLDER/latest, which leads to it, and pages. Nothing private is in
    it, and nothing of a source whose terms do not allow it; no figure rests on such a row.
    """
    if verify:
        from flows.release import reproducing

        faults = reproducing.verify(folder if (folder / reproducing.CHECKSUMS).exists() else folder / "latest")
        return Result({"faults": faults}, faults or ["every file is as it was released"], is_failed=bool(faults))
    from flows.release import making

    made = making.release(read(), folder, also=also, url=url, doi=doi)
    lines = [made["folder"], *(f"  left out, {source}: {count(n, 'price')}" for source, n in made["left_out"].items())]
    return Result(made, lines, [f"part of a page could not be made: {fault}" for fault in made["page_faults"]])


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


@command("mcp --http 8000")
@click.option("--http", "address", type=Address(), metavar="[HOST:]PORT", help="Answer over HTTP on this machine.")
def mcp(read: Reader, *, address: tuple[str, int] | None, in_json: bool) -> None:
    """Serve the published file to programs (MCP).

    A read-only server of the Model Context Protocol: on stdin and stdout, or with --http at /mcp of an address of this
    machine. It needs neither network nor credentials.
    """
    try:
        from flows.read_api import server
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        hint = "In a checkout `uv sync --extra mcp` installs it, elsewhere `uv tool install 'chipledger[mcp] @ ...'`"
        raise SettingsError("the read API is not installed", field="extra", value="mcp", hint=hint) from error
    from importlib.metadata import version

    settings = read()
    api = server.ReadApi(settings.published, lambda: datetime.now(UTC), version=version("chipledger"))
    server.serve(api, address)


COMMANDS = (report, mail, alert, export, release, mcp)
