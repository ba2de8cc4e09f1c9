"""The daily flow: the steps of `flows.steps` under Prefect, which schedules, retries, and shows what became of each.

Every scope is fetched by a task of its own, in threads. Landing, loading, publishing and reporting happen in the flow,
which holds the writer's lock: there is one writer, and DuckDB's connection never leaves its thread.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    from flows import launch

    ARGUMENTS = launch.prepared(sys.argv[1:], os.environ)  # before Prefect is imported, which reads its environment

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import as_completed
from prefect.states import Completed
from prefect.task_runners import ThreadPoolTaskRunner

from extract import SOURCES, source_named
from flows import alerts, settings, steps
from flows.summary import Summary
from warehouse.documents import Look
from warehouse.errors import ChipledgerError, SettingsError, SourceError, Unavailable

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State, TaskRun
    from prefect.futures import PrefectFuture

ARTIFACT_KEY = "chipledger-daily"
RETRIES = 2
RETRY_DELAY_S = 60.0
"""Each attempt has its own short retries inside (extract.http); these are for a source that is down for minutes."""
RETRY_JITTER = 0.5
LONGEST_PAUSE_S = 30.0
"""A source that asks for a longer pause than any of ours is asked again by the next run."""
LONGEST_ERROR = 400


@flow(name="daily", persist_result=False)
def daily(
    offline: bool = False,
    sources: list[str] | None = None,
    scopes: list[str] | None = None,
    data_dir: str | None = None,
) -> "State[Summary]":
    """Collect prices, load what changed, publish the file and the report.

    Ends as Completed, naming the scopes without fresh prices. Raises ChipledgerError where nothing was fresh.

    Args:
        offline: Replay the dated archive in the package: no network, no credentials.
        sources: Only these sources; all that are enabled where none is named.
        scopes: Only these scopes, such as regions.
        data_dir: Where everything is kept; by default as the settings say.
    """
    log = get_run_logger()
    chosen = settings.read(data_dir=Path(data_dir) if data_dir else None)
    with steps.open_run(chosen, progress=log.info) as one:
        planned = one.plan(one.sources(known(sources or []), offline=offline), scopes or ())
        fetch_all(one, [(source.name, scope) for source, scope in planned])
        summary = one.finish()
    for line in summary.lines():
        log.info("%s", without_secrets(line))
    create_markdown_artifact(
        key=ARTIFACT_KEY, markdown="\n".join(page(summary)), description=f"chipledger run {summary.run_id}"
    )
    alerts.after_run(chosen, clock=steps.utc_now)
    if not summary.fresh:
        raise ChipledgerError(outcome(summary), hint="The last published file stands")
    steps.call_heartbeat(chosen)
    return Completed(message=outcome(summary), data=summary)


def known(names: list[str]) -> list[str]:
    """Return the names of sources; raise SettingsError where one is unknown."""
    all_names = [source.name for source in SOURCES]
    for name in names:
        if name not in all_names:
            raise SettingsError("unknown source", field="sources", value=name, hint=f"Known: {', '.join(all_names)}")
    return names


def fetch_all(one: steps.Run, planned: list[tuple[str, str]]) -> None:
    """Fetch scopes side by side, each in a task, and land what comes in this thread; one that fails fails alone."""
    fetch = fetch_task(one)
    pool: ThreadPoolTaskRunner[Any] = ThreadPoolTaskRunner(max_workers=one.settings.workers)
    with pool:
        futures: dict[PrefectFuture[tuple[Look, ...]], tuple[str, str]] = {
            pool.submit(fetch, {"source": source, "scope": scope}): (source, scope) for source, scope in planned
        }
        for done in as_completed(list(futures)):
            source, scope = futures[done]
            try:
                fetched = steps.Fetched(source=source, scope=scope, looks=done.result())
            except SourceError as error:
                fetched = steps.Fetched(source=source, scope=scope, error=error)
            one.land(fetched)


def fetch_task(one: steps.Run) -> Task[[str, str], tuple[Look, ...]]:
    """Return the task that fetches one scope of a run.

    The run is not among its parameters, which Prefect shows and would hash; its result stays in memory.
    """

    @task(
        name="fetch",
        task_run_name="fetch {source} {scope}",
        tags=["fetch"],
        retries=RETRIES,
        retry_delay_seconds=RETRY_DELAY_S,
        retry_jitter_factor=RETRY_JITTER,
        retry_condition_fn=is_passing,
        cache_policy=NO_CACHE,
        persist_result=False,
    )
    def fetch(source: str, scope: str) -> tuple[Look, ...]:
        return one.fetch(source_named(source), scope)

    return fetch


def is_passing(task: Task[..., Any], task_run: "TaskRun", state: "State[Any]") -> bool:
    """Return whether a failure may pass within our pauses: the source was unavailable, and asks for no longer one."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, Unavailable) and (error.retry_after or 0.0) <= LONGEST_PAUSE_S


def outcome(summary: Summary) -> str:
    """Return the outcome of a run in a sentence: how many looks were fresh, and which scopes are stale."""
    stale = ", ".join(f"{result.source} {result.scope}" for result in summary.failed)
    if not summary.fresh:
        return f"nothing was fresh: {stale or 'no scope to look at'}"
    fresh = len(summary.results) - len(summary.failed)
    private = f"; private side not built: {summary.private_fault}" if summary.private_fault else ""
    return f"{fresh} looks fresh, {summary.n_events} changes" + (f"; stale: {stale}" if stale else "") + private


def page(summary: Summary) -> Iterator[str]:
    """Yield the lines of the run's page in Markdown; text that came from elsewhere is escaped."""
    counts = Counter(result.status for result in summary.results)
    refused = sum(result.n_refused for result in summary.results)
    yield f"# chipledger run {summary.run_id}"
    yield ""
    yield escaped(outcome(summary))
    yield ""
    yield "| what | count |"
    yield "| --- | ---: |"
    for status, count in sorted(counts.items()):
        yield f"| looks {status} | {count} |"
    yield f"| prices | {sum(result.n_rows for result in summary.results)} |"
    yield f"| price events | {summary.n_events} |"
    yield f"| refused rows | {refused} |"
    if summary.failed:
        yield ""
        yield "## Without fresh prices"
        yield ""
        yield "| source | scope | error |"
        yield "| --- | --- | --- |"
        for result in summary.failed:
            yield f"| {escaped(result.source)} | {escaped(result.scope)} | {escaped(result.error or '')} |"
    yield ""
    if summary.file:
        yield f"- file: {escaped(str(summary.file.resolve()))}"
    else:
        yield "- nothing was published; the last file stands"
    if summary.report:
        yield f"- report: {escaped(str(summary.report.resolve()))}"
    if refused:
        yield "- `chipledger quarantine list` says why rows were refused"


def escaped(text: str) -> str:
    """Return text on one line, shortened, with no secret and no character that means something in Markdown."""
    line = " ".join(without_secrets(text).split())
    short = line if len(line) <= LONGEST_ERROR else f"{line[: LONGEST_ERROR - 3]}..."
    return re.sub(r"([\\`*_{}\[\]<>|#~&!$])", r"\\\1", short)


def without_secrets(text: str) -> str:
    """Return text whose addresses have lost user, password and query, where signatures and keys are."""
    return re.sub(r"(https?://)(?:[^\s/@]*@)?([^\s?]*)(?:\?\S*)?", r"\1\2", text)


def main(offline: bool, sources: list[str] | None, scopes: list[str] | None, data_dir: Path | None) -> int:
    """Run the flow once and print its summary, whose last lines name the file and the report; return the exit code."""
    state = daily(offline, sources, scopes, str(data_dir) if data_dir else None, return_state=True)
    result: Any = state.result(raise_on_failure=False)  # Prefect takes the summary out of the state the flow returns
    if not isinstance(result, Summary):
        sys.stderr.write(f"error: {without_secrets(str(result))}\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in result.lines())
    return 1 if result.private_fault else 0


if __name__ == "__main__":
    sys.exit(main(**vars(ARGUMENTS)))
