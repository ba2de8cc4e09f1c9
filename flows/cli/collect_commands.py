"""The commands of the section Collect, and `sources`: the daily job, its steps, quarantine, imports, a new source."""

import re
import runpy
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flows.cli.command import DAY, EXISTING_FILE, Number, Result, as_sources, command, group
from flows.config import Reader
from flows.shared import Progress, output
from warehouse.errors import ChipledgerError, SettingsError, count, did_you_mean

if TYPE_CHECKING:
    from flows.collect.summary import Summary
    from flows.config.settings import Settings

SCOPES = click.option("--scope", "scopes", multiple=True, help="Only this scope, such as a region; may repeat.")
SOURCES = click.option(
    "--source", "source_names", multiple=True, callback=as_sources, help="Only this source; may repeat. See `sources`."
)
REGIONS = click.option("--regions", metavar="NAMES", help="Regions of AWS, as us-east-1,eu-west-1, or all.")
AWS_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)*-(central|north|south|(north|south)?(east|west))-\d")
FETCH = "`chipledger run` fetches prices; `chipledger run --offline` has those of the package"
VIEW = ("source", "provider", "kind", "enabled", "max_age_hours", "may_fetch", "redistributable")
OF_SOURCE = click.option(
    "--source", "sources", multiple=True, callback=as_sources, help="Only of this source; may repeat."
)
OLDER_THAN = click.option(
    "--older-than", type=click.IntRange(min=0), metavar="DAYS", help="Only rows seen more than so many days ago."
)


@command("run --offline")
@click.option("--offline", is_flag=True, help="Replay the dated archive in the package: no network, no credentials.")
@click.option("--wait", "wait_seconds", type=Number(min=0), help="Seconds to wait for another run that is writing [0].")
@SOURCES
@SCOPES
@REGIONS
def run(
    read: Reader, *, offline: bool, wait_seconds: float | None, regions: str | None, progress: Progress, **only: Any
) -> Result:
    """Do the daily job: collect, publish, report."""
    from flows.alerts import after_run
    from flows.collect import steps

    chosen = _in_regions(read(), regions)
    chosen = chosen if wait_seconds is None else chosen.replace(wait_seconds=wait_seconds)
    chosen = chosen.offline() if offline else chosen
    summary = steps.run(chosen, offline=offline, progress=progress, **only)
    if after_run.alert(chosen, clock=steps.utc_now) and summary.fresh:
        after_run.call_heartbeat(chosen)
    return _result(summary)


@command("collect --source aws_spot --scope us-east-1")
@SOURCES
@SCOPES
@REGIONS
def collect(read: Reader, *, regions: str | None, progress: Progress, **only: Any) -> Result:
    """Fetch current prices and publish; no report."""
    from flows.collect import steps

    with steps.open_run(_in_regions(read(), regions), progress=progress) as one:
        one.collect(**only)
        summary = one.finish(report=False)
    return _result(summary)


@command("check-live --source lambda")
@SOURCES
@click.option("--region", default="us-east-1", help="The one region of AWS that is fetched.")
def check_live(read: Reader, *, source_names: tuple[str, ...], region: str, progress: Progress) -> Result:
    """Fetch each source once: can it be read?

    Nothing is loaded. What was received is kept below captures/ of the data directory, a bundle a source, and an
    archive of all of them to send. Exit code 1: a source failed.
    """
    from flows.collect import live
    from reports import wording

    chosen = read()
    checks, archive = live.run(chosen, source_names, region, progress)
    n_failed = sum(each.verdict == "failed" for each in checks)
    lines = [line for each in checks for line in each.lines()]
    status = chosen.data_dir / live.FOLDER / live.STATUS
    lines += [f"{wording.count(len(checks), 'source')}, {n_failed} failed", f"status page: {status}"]
    lines += [f"bundles, to send: {archive}"] if archive else []
    value = {"checks": [asdict(each) for each in checks], "archive": archive and str(archive), "page": str(status)}
    return Result(value, lines, is_failed=n_failed > 0)


@command("build")
@click.option("--new-history", is_flag=True, help="Replace a file of another or longer history; it is kept.")
def build(read: Reader, *, new_history: bool, progress: Progress) -> Result:
    """Load landed documents, and publish."""
    from flows.collect import steps

    with steps.open_run(_existing(read()), progress=progress) as one:
        one.load()
        is_first = not (one.settings.data_dir / "prices.duckdb").exists()
        if is_first and one.con.execute("from log.document limit 1").fetchone() is None:
            raise ChipledgerError("there is nothing to publish", source=str(one.settings.data_dir), hint=FETCH)
        one.publisher.publish(new_history=new_history)
    return _result(one.summary, judge=False)


@command("parse answer.json --source voltagepark")
@click.option("--source", "name", required=True, help="The source whose format the file has. See `sources`.")
@click.option("--scope", help="The scope of the document; rows of other regions are left out. Default: all.")
@click.argument("file", type=EXISTING_FILE)
def parse(_read: Reader, *, name: str, scope: str | None, file: Path) -> Result:
    """Read one saved document through one source.

    Prints its prices as JSON lines. What was left out goes to stderr, and refused rows, as objects with source, field,
    value and reason; then the exit code is 1.
    """
    with output.errors(in_json=True):
        from extract import source_named
        from flows.collect import inspect_document

        accepted, refused, note = inspect_document.read(source_named(name), scope or "", file)
    notes = [*([f"note: {note}"] if note else []), *map(output.as_json, refused)]
    return Result(accepted, map(output.as_json, accepted), notes, is_failed=bool(refused), is_one_a_line=True)


quarantine = group("quarantine", "quarantine list", "List and decide on refused rows.")


@command("quarantine list --all", group=quarantine, name="list", has_table=True)
@click.option("--all", "everything", is_flag=True, help="Include rows already decided.")
@OF_SOURCE
@OLDER_THAN
def list_quarantine(read: Reader, *, everything: bool, sources: tuple[str, ...], older_than: int | None) -> Result:
    """List refused rows: what, where, why."""
    from flows.collect import steps, waiting

    rows, note = waiting.listed(read(), read.published, everything=everything)
    rows = waiting.chosen(rows, sources, older_than, steps.utc_now())
    table = output.text_table(rows, ("quarantine_id", "source", "reason", "value"))
    return Result(rows, [table or "Nothing is in quarantine."], [note] if note else [])


def _decision(decision: str, explanation: str) -> None:
    @command(f"quarantine {decision} 17 18", group=quarantine, name=decision, help=explanation)
    @click.argument("quarantine_ids", type=int, nargs=-1)
    @click.option("--all", "everything", is_flag=True, help="All open rows.")
    @OF_SOURCE
    @OLDER_THAN
    def decide(read: Reader, *, quarantine_ids: tuple[int, ...], **rule: Any) -> Result:
        from flows.collect import steps, waiting

        with steps.open_run(_existing(read())) as one:
            if waiting.decide(one, decision, quarantine_ids, **rule):
                one.publisher.publish()
        return _result(one.summary, judge=False)


_decision(
    "accept",
    "Accept rows by id, source or age.\n\nTheir prices count from when they were seen. An accepted fetch closes the "
    "older ones of its scope.",
)
_decision("refuse", "Leave rows out for good, by id, source or age.")


@command("import seen.csv", name="import")
@click.argument("files", type=EXISTING_FILE, nargs=-1, required=True)
@click.option("--replaces", metavar="FILE|SHA256", help="Withdraw a file imported before, which these correct.")
def import_files(read: Reader, *, files: tuple[Path, ...], replaces: str | None) -> Result:
    """Import past prices from CSV files.

    The files hold observations; import them any number of times, in any order. docs/importing.md lists the columns.
    """
    from flows.collect import importer, steps

    documents = [importer.landed(file, steps.utc_now()) for file in files]
    with steps.open_run(read()) as one:
        if replaces:
            importer.withdraw_file(one, replaces, documents)
        for document in documents:
            importer.land(one, document)
            one.load()
        one.summary.notes += importer.refused(one)
        if one.summary.fresh:
            one.publisher.publish()
    return _result(one.summary)


@command("withdraw voltagepark/all/2026-11-17..2026-11-22 --reason 'a week of prices per node' --dry-run")
@click.argument("selection", metavar="RUN|SHA256|SOURCE/SCOPE/DAYS")
@click.option("--reason", required=True, help="Why they were wrong, in words that readers see.")
@click.option("--dry-run", is_flag=True, help="Only print what would be withdrawn.")
def withdraw(read: Reader, *, selection: str, reason: str, dry_run: bool) -> Result:
    """Withdraw prices that were learnt wrong.

    RUN is the id of a run; SHA256 a document, or its first 8 digits or more; DAYS a day, or two joined by "..". Nothing
    is deleted: the history reads as if they had not been, price_change has each correction with its reason, and what
    was known before stays known.
    """
    from flows.collect import steps
    from warehouse.log.withdraw import events_of, selected

    if not reason.strip():
        raise SettingsError("a reason is missing", field="--reason", value=reason, hint="Say what was wrong")
    with steps.open_run(_existing(read())) as one:
        fetches = selected(one.con, selection, one.landing.entries())
        found = events_of(one.con, fetches)
        changes = f"{count(found.events, 'price change')} of {count(found.offers, 'offer')}"
        lines = [
            f"{'would withdraw' if dry_run else 'withdrawn'}: {count(found.fetches, 'fetch', 'fetches')}, {changes}, "
            f"{found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC"
        ]
        lines += [f"  {each.source} {each.scope} {each.observed_at:%Y-%m-%d %H:%M}" for each in fetches]
        if not dry_run:
            one.withdraw(fetches, reason.strip())
            one.publisher.publish()
            lines += one.summary.lines()
    return Result(one.summary.as_dict() | asdict(found) | {"is_dry_run": dry_run}, lines)


@command("backfill aws --region us-east-1 --since 2025-01-01")
@click.argument("name", metavar="SOURCE")
@click.option("--scope", "--region", "scopes", multiple=True, required=True, help="A region; may repeat.")
@click.option("--since", type=DAY, help="First day, UTC. Default: the archive's first.")
@click.option("--until", type=DAY, help="Last day, UTC. Default: the archive's last.")
def backfill(read: Reader, *, name: str, scopes: tuple[str, ...], since: Any, until: Any, progress: Progress) -> Result:
    """Collect past prices from a provider's archive.

    `aws` is short for aws_price_list. A version fetched before is not fetched again, so a backfill that was interrupted
    resumes where it stopped.
    """
    from extract import source_named
    from flows.collect import importer, steps

    source = source_named({"aws": "aws_price_list"}.get(name, name))
    with steps.open_run(read(), progress=progress) as one:
        importer.backfill(one, source, scopes, since=since, until=until)
        summary = one.finish(report=False)
    return _result(summary)


@command("sources", cls=click.Group, invoke_without_command=True, has_table=True)
def sources(read: Reader) -> Result:
    """List the sources: on or off, age, terms."""
    from extract import SOURCES
    from warehouse.reference.source_terms import terms_of

    chosen = read()
    rows = [
        {
            "source": source.name,
            "provider": source.provider,
            "kind": source.kind,
            "enabled": chosen.is_on(source),
            "max_age_hours": int(source.max_age.total_seconds() // 3600) if source.max_age else None,
            "title": source.title,
            "may_fetch": (terms := terms_of(source.name)) and (terms.may_fetch or "unread"),
            "redistributable": terms and (terms.redistributable or "unread"),
            "url": source.url,
            "terms_url": source.terms_url,
        }
        for source in SOURCES
    ]
    return Result(rows, [output.text_table(rows, VIEW)])


def _existing(chosen: "Settings") -> "Settings":
    """Return the settings of a data directory that has been used: a mistyped one is refused, not made."""
    used = ("landing", "build.duckdb", "prices.duckdb")  # the last alone: a disk that is not mounted
    if not (chosen.warehouse.is_set or any((chosen.data_dir / name).exists() for name in used)):
        hint = f"Name another with --data-dir; {FETCH}"
        raise ChipledgerError("nothing was ever fetched here", source=str(chosen.data_dir), hint=hint)
    return chosen


def _in_regions(chosen: "Settings", regions: str | None) -> "Settings":
    """Return the settings with the regions of AWS's sources, where some are named."""
    if regions is None:
        return chosen
    from extract import SOURCES

    names = "all" if regions == "all" else [name.strip() for name in regions.split(",")]
    for name in () if names == "all" else names:
        # A region that is new is taken; a word that is none of AWS's names is not.
        if not AWS_REGION.fullmatch(name):
            from warehouse.reference.prepared import REGIONS as KNOWN

            known = [row["region_id"] for row in KNOWN.read() if row["service_provider_name"] == "AWS"]
            raise SettingsError("no region of AWS", field="--regions", value=name, hint=did_you_mean(name, known))
    aws = [source.name for source in SOURCES if source.provider == "AWS" and "regions" in source.settings]
    return chosen.replace(
        sources={**chosen.sources, **{name: {**chosen.source(name), "regions": names} for name in aws}}
    )


def _result(summary: "Summary", *, judge: bool = True) -> Result:
    """Return what was done; failed where a run found nothing fresh, or the private side was not built."""
    is_failed = summary.faulty or (judge and not summary.fresh)
    return Result(summary.as_dict(), summary.lines(), is_failed=bool(is_failed))


TOOL = Path(__file__).resolve().parents[2] / "tools" / "new_source.py"


@command('sources new northgpu prices.json --provider "North GPU"', group=sources, name="new")
@click.argument("name")
@click.argument("answer", metavar="URL-OR-FILE", required=False)
@click.option("--provider", help="The provider's name, as its site writes it.")
@click.option("--url", help="The address of a saved answer.")
@click.option("--terms", help="The address of the provider's terms.")
@click.option("--rows", is_flag=True, help="Write the expected rows of an existing source again.")
def new_source(_read: Reader, *, name: str, answer: str | None, rows: bool, **stated: str | None) -> Result:
    """Write code and tests of a new provider. It works in a checkout only. docs/adding-a-provider.md has the steps."""
    if not TOOL.is_file():
        hint = "Clone the repository, run `make setup` and call it there"
        raise SettingsError("this command works in a checkout only", field="sources new", value=TOOL, hint=hint)
    if rows == bool(answer):
        raise SettingsError("expected either URL-OR-FILE or --rows", field="URL-OR-FILE", value=answer)
    received = _answer(answer) if answer else None
    written, questions = runpy.run_path(str(TOOL))["make"](name, received, **stated)
    last = "Compare each expected row with the answer by hand; docs/adding-a-provider.md has the next steps."
    if questions:
        last = f"The source refuses to work until each is filled in. Then: chipledger sources new {name} --rows"
    lines = [*(f"wrote {path}" for path in written), *(f"TODO {field}: {text}" for field, text in questions.items())]
    return Result({"written": written, "questions": questions}, [*lines, last])


def _answer(answer: str) -> tuple[bytes, str]:
    """Return the bytes of a file, or of an address through the polite client, and the address."""
    if not answer.startswith(("https://", "http://")):
        from flows.shared import user_file

        return user_file.read(Path(answer)), ""
    from extract.web.http import HttpWeb
    from extract.web.polite import PoliteWeb

    return PoliteWeb(HttpWeb()).get(answer, accept="application/json, text/html").body, answer


COMMANDS = (run, collect, check_live, build, parse, quarantine, import_files, withdraw, backfill, sources)
