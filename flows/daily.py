"""The daily flow: the steps of `flows.steps` under Prefect, which schedules, retries, and shows what became of each.

Every scope is fetched by a task of its own, in threads. Landing, loading, publishing and reporting happen in the flow,
which holds the writer's lock: there is one writer, and DuckDB's connection never leaves its thread.
"""

import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    from flows import launch

    ARGUMENTS = launch.prepared(sys.argv[1:], os.environ)  # before Prefect is imported, which reads its environment

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import as_completed
from prefect.states import Completed
from prefect.task_runners import ThreadPoolTaskRunner

from extract import source_named
from flows import alerts, run_page, settings, steps
from flows.retrying import AGAIN
from flows.run_page import known, outcome, page, without_secrets
from flows.summary import Summary
from warehouse.documents import Look
from warehouse.errors import ChipledgerError, SourceError, Unavailable

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State
    from prefect.futures import PrefectFuture

ARTIFACT_KEY = "chipledger-daily"
DRIFT_KEY = "chipledger-drift"
REPORT_KEY = "chipledger-report"
RUN_TIMEOUT_S = 8 * 3600
"""Of a whole run with all that it waits for, another run first."""
FETCH_TIMEOUT_S = 2 * 3600
"""Of one attempt at one scope, whose requests have limits of their own: against what answers for ever."""
# Prefect warns of each task with a limit that it runs in a thread, where the limit counts between two reads only. Ours
# end their reads in time.
logging.getLogger("prefect.task_runs").addFilter(lambda record: "running in a worker thread" not in str(record.msg))


@flow(name="daily", persist_result=False, timeout_seconds=RUN_TIMEOUT_S)
def daily(
    offline: bool = False,
    sources: list[str] | None = None,
    scopes: list[str] | None = None,
    data_dir: str | None = None,
    wait_seconds: float | None = None,
) -> "State[Summary]":
    """Collect prices, load what changed, publish the file and the report.

    Ends as Completed, naming the scopes without fresh prices. Raises ChipledgerError where nothing was fresh.

    Args:
        offline: Replay the dated archive in the package: no network, no credentials.
        sources: Only these sources; all that are enabled where none is named.
        scopes: Only these scopes, such as regions.
        data_dir: Where everything is kept; by default as the settings say.
        wait_seconds: How long to wait for another run that is writing; by default as the settings say.
    """
    log = get_run_logger()
    chosen = settings.read(data_dir=Path(data_dir) if data_dir else None)
    if wait_seconds is not None:
        chosen = replace(chosen, wait_seconds=wait_seconds)
    with steps.open_run(chosen, progress=log.info) as one:
        planned = one.plan(one.sources(known(sources or []), offline=offline), scopes or ())
        fetch_all(one, [(source.name, scope) for source, scope in planned])
        summary = one.finish()
    for line in summary.lines():
        log.info("%s", without_secrets(line))
    create_markdown_artifact(
        key=ARTIFACT_KEY, markdown="\n".join(page(summary)), description=f"chipledger run {summary.run_id}"
    )
    show(chosen, summary)
    alerts.after_run(chosen, clock=steps.utc_now)
    if not summary.fresh:
        raise ChipledgerError(outcome(summary), hint="The last published file stands")
    steps.call_heartbeat(chosen)
    return Completed(message=outcome(summary), data=summary)


def show(chosen: settings.Settings, summary: Summary) -> None:
    """Show what was published: the last week's drift as a table, and where the report is."""
    if summary.file:
        told, rows = run_page.drifts(summary.file)
        create_table_artifact(key=DRIFT_KEY, table=rows, description=told)
    if summary.report:
        link, told = run_page.address(chosen, summary.report)
        create_link_artifact(key=REPORT_KEY, link=link, link_text=link, description=told)


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
            except TimeoutError:
                late = Unavailable(f"gave no whole answer within {FETCH_TIMEOUT_S} seconds", source=source)
                fetched = steps.Fetched(source=source, scope=scope, error=late)
            one.land(fetched)


def fetch_task(one: steps.Run) -> Task[[str, str], tuple[Look, ...]]:
    """Return the task that fetches one scope of a run.

    The run is not among its parameters, which Prefect shows and would hash; its result stays in memory.
    """

    @task(
        name="fetch",
        task_run_name="fetch {source} {scope}",
        tags=["fetch"],
        timeout_seconds=FETCH_TIMEOUT_S,
        cache_policy=NO_CACHE,
        persist_result=False,
        **AGAIN,
    )
    def fetch(source: str, scope: str) -> tuple[Look, ...]:
        return one.fetch(source_named(source), scope)

    return fetch


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
