"""The backfill flow: past prices of one source under Prefect, scope by scope, from the provider's own archive."""

from datetime import date
from typing import TYPE_CHECKING

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.states import Completed

from extract import source_named
from flows.collect import importer, steps
from flows.collect.collector import FetchResult
from flows.config import settings
from flows.scheduling import run_page
from flows.scheduling.prefect_setup import RETRIES
from warehouse.errors import ChipledgerError, SettingsError, SourceError

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

    from extract.base import Source
    from flows.collect.summary import Summary

ARTIFACT_KEY = "chipledger-backfill"
RUN_TIMEOUT_S = 24 * 3600
"""Of a whole run: years of many regions take hours. What broke off goes on with the next run, from where it was."""


@flow(name="backfill", persist_result=False, timeout_seconds=RUN_TIMEOUT_S)
def backfill(
    source: str,
    scopes: list[str],
    since: date | None = None,
    until: date | None = None,
    data_dir: str | None = None,
    wait_seconds: float | None = None,
) -> "State[Summary]":
    """Collect past prices, load and publish them. A version fetched before is not fetched again.

    Ends as Completed, naming the scopes that failed, and those of which the archive has nothing in that time. Raises
    ChipledgerError where none gave anything.

    Args:
        source: The source whose archive is read, such as aws_price_list.
        scopes: The scopes to read, such as regions.
        since: First day, UTC; by default the archive's first.
        until: Last day, UTC; by default the archive's last.
        data_dir: Where everything is kept; by default as the settings say.
        wait_seconds: How long to wait for another run that is writing; by default as the settings say.
    """
    log = get_run_logger()
    chosen = settings.read(data_dir=data_dir or None, wait_seconds=wait_seconds)
    found = source_named(source)
    if not scopes:
        raise SettingsError("no scope was named", field="scopes", value=scopes, hint="Such as us-east-1")
    with steps.open_run(chosen, progress=log.info) as one:
        read = read_task(one, found, since, until)
        empty = []
        for scope in scopes:
            try:
                if not read(source, scope):
                    empty.append(scope)
            except SourceError as error:
                one.land(FetchResult(source=source, scope=scope, error=error))
        summary = one.finish(report=False)
    for line in summary.lines():
        log.info("%s", run_page.without_secrets(line))
    create_markdown_artifact(
        key=ARTIFACT_KEY, markdown="\n".join(run_page.page(summary)), description=f"chipledger backfill of {source}"
    )
    if not summary.fresh:
        raise ChipledgerError(run_page.outcome(summary), hint="The last published file is unchanged")
    nothing = f"; nothing in the archive: {', '.join(empty)}" if empty else ""
    return Completed(message=run_page.outcome(summary) + nothing, data=summary)


def read_task(one: steps.Run, found: "Source", since: date | None, until: date | None) -> Task[[str, str], int]:
    """Return the task that reads one scope of an archive and lands each fetch as it comes, so that a break loses none.

    It is called, not submitted: the run's connection to DuckDB stays in its thread. Tried again, it goes on where it
    was. It has no limit of time of its own, as Prefect's would put aside the flow's, which is of the same thread.
    """

    @task(
        name="read archive",
        task_run_name="read {source} {scope}",
        tags=["backfill"],
        cache_policy=NO_CACHE,
        persist_result=False,
        **RETRIES,
    )
    def read(source: str, scope: str) -> int:
        return importer.backfill_scope(one, found, scope, since=since, until=until)

    return read
