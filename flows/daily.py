"""The daily flow: the steps of `flows.collect.steps` under Prefect, which schedules, retries, and shows what became
of each.

Every scope is fetched by a task of its own, in threads, in processes of a Dask cluster, or in runs of the flow
`collect`, which Prefect's workers share (docs/scheduling.md). Landing, loading, publishing and reporting happen in the
flow, which holds the writer's lock: there is one writer, and DuckDB's connection never leaves its thread.
"""

import logging
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

if __name__ == "__main__":
    from flows.scheduling import launch

    ARGUMENTS = launch.prepared(sys.argv[1:], os.environ)  # before Prefect is imported, which reads its environment

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound
from prefect.futures import as_completed
from prefect.states import Cancelled, Completed
from prefect.task_runners import ThreadPoolTaskRunner

from extract import source_named
from flows.alerts import deliver, heartbeat
from flows.collect import fan_out, groups, handed, handed_shared, limits, steps
from flows.collect.fan_out import Collected, Known, Scope
from flows.collect.summary import Summary
from flows.config import run_settings, settings
from flows.scheduling import run_page
from flows.scheduling.retrying import AGAIN
from flows.scheduling.run_page import known, outcome, page, without_secrets
from warehouse.documents import Look
from warehouse.errors import ChipledgerError, SettingsError, SourceError, Unavailable

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State
    from prefect.futures import PrefectFuture

    from extract.base import Source

ARTIFACT_KEY = "chipledger-daily"
DRIFT_KEY = "chipledger-drift"
REPORT_KEY = "chipledger-report"
COLLECT = "collect/collect"
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
    chosen = chosen.offline() if offline else chosen
    with steps.open_run(chosen, is_offline=offline, progress=log.info) as one:
        planned = one.plan(one.sources(known(sources or []), offline=offline), scopes or ())
        collect_all(one, planned)
        summary = one.finish()
    for line in summary.lines():
        log.info("%s", without_secrets(line))
    create_markdown_artifact(
        key=ARTIFACT_KEY, markdown="\n".join(page(summary)), description=f"chipledger run {summary.run_id}"
    )
    show(chosen, summary)
    deliver.after_run(chosen, clock=steps.utc_now)
    if not summary.fresh:
        raise ChipledgerError(outcome(summary), hint="The last published file stands")
    heartbeat.call(chosen)
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
        settle({submitted(pool, fetch, scope): scope for scope in planned}, lambda each: one.land(each.fetched))


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


# --- past the run's own threads


def collect_all(one: steps.Run, planned: "Sequence[tuple[Source, str]]") -> None:
    """Collect scopes where the settings say, and land what comes in this thread; one that fails fails alone."""
    if one.lake is None:
        handed.take_left(one)
    how = run_settings.of(one.settings)
    if how.fan_out == "threads":
        fetch_all(one, [(source.name, scope) for source, scope in planned])
        return
    here = [(source.name, scope) for source, scope in planned if not fan_out.is_sent(source)]
    seconds = fan_out.last_seconds(one.con)
    away = fan_out.longest_first(
        ((source.name, scope) for source, scope in planned if fan_out.is_sent(source)), seconds
    )
    done: list[Collected] = []

    def take(collected: Collected) -> None:
        fan_out.take(one, collected)
        done.append(collected)

    fetch = fetch_task(one)
    own: ThreadPoolTaskRunner[Any] = ThreadPoolTaskRunner(max_workers=one.settings.workers)
    with own:
        futures: dict[PrefectFuture[Any], Scope] = {submitted(own, fetch, scope): scope for scope in here}
        if how.fan_out == "dask":
            with dask_cluster(one.settings, how) as cluster:
                for scope in away:
                    known = {scope: fan_out.known_to(one, *scope)}
                    collect_it = collect_task(one.settings.data_dir, one.summary.run_id, known)
                    futures[submitted(cluster, collect_it, scope)] = scope
                settle(futures, take)
        else:
            for scope in share(one, fan_out.groups(away, seconds, how.processes), take):
                one.progress(f"{' '.join(scope)}: no worker began it, so the run does")
                futures[submitted(own, fetch, scope)] = scope
            settle(futures, take)
    if how.fan_out == "dask" or one.lake is None:  # workers on a shared warehouse have told it themselves
        fan_out.remember(one.con, one.summary.run_id, done, one.clock())


def submitted(pool: Any, work: Task[[str, str], Any], scope: Scope) -> "PrefectFuture[Any]":
    """Submit a task for one scope to a pool of Prefect's, and return its future."""
    future: PrefectFuture[Any] = pool.submit(work, {"source": scope[0], "scope": scope[1]})
    return future


def settle(futures: "Mapping[PrefectFuture[Any], Scope]", take: groups.Take) -> None:
    """Take what became of each scope as it comes."""
    for done in as_completed(list(futures)):
        take(outcome_of(done, futures[done]))


def outcome_of(done: "PrefectFuture[Any]", wanted: Scope) -> Collected:
    """Return what became of a scope whose task is done: looks, or why there are none. Faults of the program pass."""
    source, scope = wanted
    try:
        result = done.result()
    except SourceError as error:
        return Collected(source=source, scope=scope, error=error)
    except TimeoutError:
        late = Unavailable(f"gave no whole answer within {FETCH_TIMEOUT_S} seconds", source=source)
        return Collected(source=source, scope=scope, error=late)
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # of Dask, which is installed only where it is used
            raise
        dead = Unavailable("the processes that collected it died, one after the other", source=source, value=scope)
        return Collected(source=source, scope=scope, error=dead)
    return result if isinstance(result, Collected) else Collected(source=source, scope=scope, looks=result)


def collect_task(data_dir: Path, run_id: str, known: Mapping[Scope, Known]) -> Task[[str, str], Collected]:
    """Return the task that collects one scope in whatever process it runs, which reads settings and secrets for itself.

    The limit of its family counts over all processes, where `chipledger deploy` made it.
    """

    @task(
        name="collect",
        task_run_name="collect {source} {scope}",
        tags=["fetch"],
        timeout_seconds=FETCH_TIMEOUT_S,
        cache_policy=NO_CACHE,
        persist_result=False,
        **AGAIN,
    )
    def collect_one(source: str, scope: str) -> Collected:
        family = limits.FAMILIES.get(source)
        with concurrency([family] if family else []):
            return fan_out.collect_scope(
                settings.read(data_dir=data_dir), source, scope, run_id=run_id, known=known[source, scope]
            )

    return collect_one


def dask_cluster(chosen: settings.Settings, how: run_settings.RunSettings) -> Any:
    """Return the task runner of the cluster that the settings name, or of one of its own on this machine."""
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise SettingsError(
            "Dask is not installed", field="run.fan_out", value=how.fan_out, hint="Install the extra `dask`"
        ) from error
    if how.dask_address:
        return DaskTaskRunner(address=how.dask_address)
    threads = math.ceil(chosen.workers / how.processes)
    own = {
        "n_workers": how.processes,
        "threads_per_worker": threads,
        "processes": True,
        "dashboard_address": "127.0.0.1:0",
    }
    return DaskTaskRunner(cluster_kwargs=own)


# --- workers of a work pool


class Workers:
    """Prefect's workers, who take a run of the flow `collect` for each group."""

    def __init__(self, run_id: str, data_dir: Path) -> None:
        self.run_id, self.data_dir = run_id, data_dir

    def send(self, number: int, scopes: Sequence[Scope]) -> str:
        """Ask for a run of `collect`; return its id. Raises SettingsError where that is not deployed."""
        try:
            sent: Any = run_deployment(
                COLLECT,
                parameters={
                    "run_id": self.run_id,
                    "number": number,
                    "scopes": [" ".join(scope) for scope in scopes],
                    "data_dir": str(self.data_dir.resolve()),
                },
                timeout=0,
                flow_run_name=f"collect {number} of {self.run_id}",
            )
        except ObjectNotFound as error:
            raise SettingsError(
                f"the server has no deployment {COLLECT}",
                field="run.fan_out",
                value="workers",
                hint="`chipledger deploy` makes it; without a server choose threads or dask",
            ) from error
        return str(sent.id)

    def ended(self, sent_id: str) -> str:
        """Return the final state of a run, in words; empty where it has none."""
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(sent_id)).state
        return (
            f"its run ended as {state.name}: {state.message or ''}".rstrip(": ") if state and state.is_final() else ""
        )

    def cancel(self, sent_id: str) -> None:
        """Have a run that waits for a worker taken by none."""
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(UUID(sent_id), Cancelled(message="The run that asked did it itself"), force=True)


def share(one: steps.Run, planned: Sequence[Sequence[Scope]], take: groups.Take) -> list[Scope]:
    """Have groups collected by workers; return the scopes that none began."""
    handover = handed_shared.of_run(one)
    sharing = groups.Sharing(
        Workers(one.summary.run_id, one.settings.data_dir),
        handover,
        known=lambda scope: fan_out.known_to(one, *scope),
        take=take,
    )
    try:
        return sharing.collect(planned)
    finally:
        handover.remove()


@flow(name="collect", persist_result=False, timeout_seconds=RUN_TIMEOUT_S)
def collect(run_id: str, number: int, scopes: list[str], data_dir: str | None = None) -> "State[None]":
    """Collect one group of scopes for a daily run, which lands and loads them; on a shared warehouse here.

    Started by that run, not by people.

    Args:
        run_id: The daily run.
        number: Which of its groups.
        scopes: Source and scope of each, with a space between.
        data_dir: Where everything is kept; by default as the settings say.
    """
    chosen = settings.read(data_dir=Path(data_dir) if data_dir else None)
    how = run_settings.of(chosen)
    asked = [(source, scope) for source, _, scope in (each.partition(" ") for each in scopes)]
    with handed_shared.opened(chosen, run_id) as handover, handover.begun(number, asked) as known:
        if known is None:
            return Completed(message=f"somebody else has group {number} of {run_id}, or it was taken back")
        one_of = collect_task(chosen.data_dir, run_id, known)
        pool: ThreadPoolTaskRunner[Any] = ThreadPoolTaskRunner(max_workers=math.ceil(chosen.workers / how.processes))
        with pool:
            settle({submitted(pool, one_of, scope): scope for scope in known}, lambda each: handover.give(number, each))
    return Completed(message=f"{len(known)} scopes looked at")


def main(offline: bool, sources: list[str] | None, scopes: list[str] | None, data_dir: Path | None) -> int:
    """Run the flow once and print its summary, whose last lines name the file and the report; return the exit code."""
    state = daily(offline, sources, scopes, str(data_dir) if data_dir else None, return_state=True)
    result: Any = state.result(raise_on_failure=False)  # Prefect takes the summary out of the state the flow returns
    if not isinstance(result, Summary):
        sys.stderr.write(f"error: {without_secrets(str(result))}\n")
        return 1
    sys.stdout.writelines(f"{line}\n" for line in result.lines())
    return 1 if result.faulty else 0


if __name__ == "__main__":
    sys.exit(main(**vars(ARGUMENTS)))
