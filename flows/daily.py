"""The daily flow: the steps of `flows.collect.steps` under Prefect, which schedules, retries and shows each scope.

Every scope is fetched by a task of its own, in threads or on Dask (`run.task_runner`). Landing, loading, publishing and
reporting happen in the flow, which holds the writer's lock: there is one writer, and DuckDB's connection never leaves
its thread.
"""

import logging
import math
import os
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    from flows.scheduling import prefect_setup

    # Before Prefect is imported, which reads its environment.
    ARGUMENTS = prefect_setup.prepared(sys.argv[1:], os.environ)

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import as_completed
from prefect.states import Completed
from prefect.task_runners import ThreadPoolTaskRunner

from extract import source_named
from flows.alerts import after_run
from flows.collect import steps
from flows.collect.collector import Fetch, FetchResult, utc_now
from flows.collect.summary import Summary
from flows.config import settings
from flows.scheduling import run_page
from flows.scheduling.prefect_setup import RETRIES
from flows.scheduling.run_page import outcome, page, without_secrets
from flows.shared.output import STEP
from warehouse.documents import ScopeFetch
from warehouse.errors import ChipledgerError, SettingsError, SourceError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefect.client.schemas.objects import State
    from prefect.futures import PrefectFuture

    from extract.base import Source

SINCE: float | None = None
"""When the script called the flow; None in a deployment."""
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
    if SINCE:
        log.info("Prefect started in %.0f s", time.monotonic() - SINCE)
    chosen = settings.read(data_dir=data_dir or None, wait_seconds=wait_seconds)
    chosen = chosen.offline() if offline else chosen
    for name in sources or ():
        source_named(name)  # before the log is opened: it refuses an unknown one

    def tell(text: str) -> None:
        log.log(logging.INFO if STEP.match(text) else logging.DEBUG, text)

    with steps.open_run(chosen, is_offline=offline, progress=tell) as run:
        run.fetch = partial(fetch_all, run)
        run.collect(sources or (), scopes or (), offline=offline)
        summary = run.finish()
    for line in () if SINCE else summary.lines():  # a script prints them
        log.info("%s", without_secrets(line))
    create_markdown_artifact(
        key=ARTIFACT_KEY, markdown="\n".join(page(summary)), description=f"chipledger run {summary.run_id}"
    )
    show(chosen, summary)
    is_sent = after_run.alert(chosen, clock=utc_now)
    if not summary.fresh:
        raise ChipledgerError(outcome(summary), hint="The last published file is unchanged")
    if is_sent:
        after_run.call_heartbeat(chosen)
    return Completed(message=outcome(summary), data=summary)


def show(chosen: settings.Settings, summary: Summary) -> None:
    """Show what was published: the last week's drift as a table, and where the report is."""
    if summary.file:
        notes, rows = run_page.drifts(summary.file)
        create_table_artifact(key=DRIFT_KEY, table=rows, description=notes)
    if summary.report:
        link, notes = run_page.address(chosen, summary.report)
        create_link_artifact(key=REPORT_KEY, link=link, link_text=link, description=notes)


def fetch_all(run: steps.Run, planned: "Sequence[tuple[Source, str]]") -> None:
    """Fetch scopes with the task runner of the settings, each in a task, and land the results in this thread.

    A failure affects its scope only. Sources with `polite` stay in this process, which has the pauses of each host.
    """
    how = run.settings.run
    with ExitStack() as opened:
        threads: ThreadPoolTaskRunner[Any] = opened.enter_context(
            ThreadPoolTaskRunner(max_workers=run.settings.workers)
        )
        cluster = opened.enter_context(dask_runner(run.settings, how)) if how.task_runner == "dask" else None
        futures: dict[PrefectFuture[Any], tuple[str, str]] = {}
        for source, scope in planned:
            wanted = {"source": source.name, "scope": scope}
            if cluster is None or source.polite:
                future = threads.submit(fetch_task(run.collector.fetch_named), wanted)
            else:
                future = cluster.submit(fetch_task(run.collector.portable_fetch(source.name, scope)), wanted)
            futures[future] = (source.name, scope)
        try:
            for done in as_completed(list(futures)):
                run.land(result_of(done, *futures[done]))
        except BaseException as error:
            if not isinstance(error, Exception):  # a signal: leaving the runners waits for requests under way
                opened.pop_all()
            raise


def fetch_task(fetch: Fetch) -> Task[[str, str], tuple[ScopeFetch, ...]]:
    """Return the task that fetches one scope.

    Its parameters are names only, as Prefect shows and hashes them; its result stays in memory.
    """

    @task(
        name="fetch",
        task_run_name="fetch {source} {scope}",
        tags=["fetch"],
        timeout_seconds=FETCH_TIMEOUT_S,
        cache_policy=NO_CACHE,
        persist_result=False,
        **RETRIES,
    )
    def fetch_scope(source: str, scope: str) -> tuple[ScopeFetch, ...]:
        return fetch(source, scope)

    return fetch_scope


def result_of(done: "PrefectFuture[Any]", source: str, scope: str) -> FetchResult:
    """Return the result of a task that ended: fetches, or the error. Faults of the program are raised."""
    try:
        return FetchResult(source=source, scope=scope, fetches=done.result())
    except SourceError as error:
        return FetchResult(source=source, scope=scope, error=error)
    except TimeoutError:
        late = Unavailable(f"gave no whole answer within {FETCH_TIMEOUT_S} seconds", source=source)
        return FetchResult(source=source, scope=scope, error=late)
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # of Dask, which is an extra
            raise
        dead = Unavailable("each process that fetched it was killed", source=source, field="scope", value=scope)
        return FetchResult(source=source, scope=scope, error=dead)


def dask_runner(chosen: settings.Settings, how: settings.RunSettings) -> Any:
    """Return Prefect's Dask task runner, on the cluster at `dask_address` or on processes of this machine."""
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise SettingsError(
            "Dask is not installed", field="run.task_runner", value=how.task_runner, hint="Install the extra `dask`"
        ) from error
    if how.dask_address:
        return DaskTaskRunner(address=how.dask_address)
    cluster = {
        "n_workers": how.processes,
        "threads_per_worker": math.ceil(chosen.workers / how.processes),
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
    }
    return DaskTaskRunner(cluster_kwargs=cluster)


def main(offline: bool, sources: list[str] | None, scopes: list[str] | None, data_dir: Path | None) -> int:
    """Run the flow once and print its summary, whose last lines name the file and the report; return the exit code."""
    global SINCE
    SINCE = time.monotonic()
    state = daily(offline, sources, scopes, str(data_dir) if data_dir else None, return_state=True)
    logging.disable()  # what Prefect says as it stops its server would keep it running where nobody reads any more
    result: Any = state.result(raise_on_failure=False)  # Prefect takes the summary out of the state the flow returns
    if not isinstance(result, Summary):
        sys.stderr.write(f"error: {without_secrets(str(result))}\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in result.lines())
    return 1 if result.faulty else 0


if __name__ == "__main__":
    sys.exit(main(**vars(ARGUMENTS)))
