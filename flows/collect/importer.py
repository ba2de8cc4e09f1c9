"""Add past prices and benchmark results to a run: files of observations, archives of providers, result files."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from pathlib import Path

from extract import observations
from extract.base import IMPORT, Source, past_fetch, past_fetches
from flows.collect import benchmarks, offline
from flows.collect.collector import FetchResult
from flows.collect.steps import Run
from flows.shared import user_file
from reports.wording import count
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, SettingsError, SourceError
from warehouse.lake import ducklake
from warehouse.log.withdraw import selected

MAX_REASONS = 12
REFUSED = """
select decision is null as is_open, min(reason) as reason, count(distinct reason) as n_reasons, count(*) as n
from core.quarantine
where run_id = ? and starts_with(source, 'import:')
group by is_open, ltrim(reason, '0123456789.')
order by is_open desc, n desc, reason
"""
"""Reasons that differ by the amount before them are one."""


def landed(file: Path, at: datetime) -> Document:
    """Return a CSV file of observations as a document. Raises ChipledgerError where it cannot be parsed."""
    name, body = user_file.name(file), user_file.read(file)
    document = Document(source=IMPORT, scope=name, url=name, body=body, fetched_at=at)
    if observations.read(document)[0].is_empty():
        hint = "Export it again, each row on a line of its own"
        raise ChipledgerError("no rows below the header", source=name, field="file", value=str(file), hint=hint)
    return document


def land(run: Run, document: Document) -> None:
    """Land a document that a person has, as a fetch of the past: a withdrawal is of what was learnt before it."""
    fetch = past_fetch(document.source, document.scope, document.fetched_at, (document,))
    run.landing.record_fetch(fetch, run_id=run.summary.run_id, recorded_at=run.after_all())


def withdraw_file(run: Run, replaced: str, by: Iterable[Document]) -> None:
    """Withdraw all that a file said which was imported before, named by its path, its name or its hash.

    `by` are the documents that replace it. Raises ChipledgerError where there is no such import, or several.
    """
    path = Path(replaced)
    if path.is_file():
        hashes = {Document(source="", scope="", url="", body=user_file.read(path), fetched_at=run.clock()).sha256}
    else:
        hashes = {
            row[0]
            for row in run.con.execute(
                "select distinct document_sha256 from core.scope_run where source like 'import:%' and status = 'ok' "
                "and (scope = ? or starts_with(document_sha256, ?))",
                [replaced, replaced],
            ).fetchall()
        }
    hashes -= {one.sha256 for one in by}
    if len(hashes) != 1:
        raise SettingsError(
            f"{len(hashes) or 'no'} imported files are called so",
            field="--replaces",
            value=replaced,
            hint="Give the file as it was imported, or its SHA-256: core.scope_run lists them",
        )
    run.withdraw(selected(run.con, hashes.pop()), f"replaced by {', '.join(one.scope for one in by)}")


def refused(run: Run) -> list[str]:
    """Return a line for each reason why rows of this run's files are no prices: what waits first, the most frequent."""
    found = run.con.execute(REFUSED, [run.summary.run_id]).fetchall()
    lines = [
        f"{count(n, 'row')} {'held' if is_open else 'refused'}{', such as' if n_reasons > 1 else ':'} {reason}"
        for is_open, reason, n_reasons, n in found[:MAX_REASONS]
    ]
    if left := sum(n for *_, n in found[MAX_REASONS:]):
        lines.append(f"{count(left, 'more row')}: `chipledger quarantine list --all`")
    if (known := sum(result.n_refused for result in run.summary.results) - sum(n for *_, n in found)) > 0:
        lines.append(f"{count(known, 'row is', 'rows are')} in the quarantine already")
    return lines


def backfill(run: Run, source: Source, scopes: Iterable[str], *, since: date | None, until: date | None) -> None:
    """Land the past fetches of scopes, one after the other as they arrive, so that an interruption loses none."""
    for scope in scopes:
        try:
            backfill_scope(run, source, scope, since=since, until=until)
        except SourceError as error:
            if source.backfill is None:
                raise
            run.land(FetchResult(source=source.name, scope=scope, error=error))


def backfill_scope(run: Run, source: Source, scope: str, *, since: date | None, until: date | None) -> int:
    """Land the past fetches of one scope as they arrive; return how many. Raises SourceError.

    `since` and `until`: first and last day, UTC.
    """
    if since and until and since > until:
        raise SettingsError("begins after its end", field="since", value=f"{since:%F}", hint=f"until is {until:%F}")
    offline.refuse_mixing(run.con, [source], run.settings.data_dir)
    count = 0
    context = run.collector.context(source)
    first = datetime.combine(since, time.min, UTC) if since else None
    last = datetime.combine(until, time.max, UTC) if until else None
    for fetch in past_fetches(source, context, scope, first, last):
        run.land(FetchResult(source=source.name, scope=scope, fetches=(fetch,)))
        run.progress(f"{source.name} {scope}: {fetch.observed_at:%Y-%m-%d}")
        count += 1
    if not count:
        run.summary.notes.append(f"{source.name} {scope}: the archive has nothing of it in that time")
    return count


def add_benchmark(run: Run, result: benchmarks.Result) -> bool:
    """Land and load a benchmark result; return whether it is new. A result whose runs are all known is not stored."""
    run.load()
    now = run.clock()
    document = result.document(now)
    with ducklake.scopes_held(run.con, [(document.source, document.sha256)]):  # of machines that add it, one does
        if benchmarks.is_known(run.con, result, document, now):
            return False
        land(run, document)
        run.load()
    return True
