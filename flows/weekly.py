"""The weekly flow: the page of the week that is over, and its mail, under Prefect, which schedules and shows it."""

from pathlib import Path
from typing import TYPE_CHECKING

from prefect import flow, get_run_logger
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.states import Completed

from flows.collect import steps
from flows.config import settings
from flows.mail import weekly_steps
from flows.mail.sending import Outcome
from flows.scheduling import run_page
from warehouse.errors import ChipledgerError

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

ARTIFACT_KEY = "chipledger-weekly"
PAGE_KEY = "chipledger-week"
RUN_TIMEOUT_S = 3600
"""Of a whole run; a page takes seconds. A mail that it breaks off in counts as uncertain, and is not sent twice."""


@flow(name="weekly", persist_result=False, timeout_seconds=RUN_TIMEOUT_S)
def weekly(week: str | None = None, data_dir: str | None = None) -> "State[Path]":
    """Write the page of a week and send its mail to everybody who does not have it yet.

    Without [mail] in the settings, or with one for alerts alone, only the page is written. Raises ChipledgerError where
    the mail failed for somebody.

    Args:
        week: ISO week, such as 2025-W26; by default the last one that is over.
        data_dir: Where everything is kept; by default as the settings say.
    """
    log = get_run_logger()
    chosen = settings.read(data_dir=data_dir or None)
    written = weekly_steps.report(chosen, week, clock=steps.utc_now)
    found, page = written.found, written.page
    link, where = run_page.address(chosen.shown(), page)
    create_link_artifact(key=PAGE_KEY, link=link, link_text=link, description=where)
    without = "no [mail] in the settings, or one for alerts alone: nothing was sent"
    outcome = Outcome(week=str(found.week), left_out=without)
    if chosen.mail.is_set and (chosen.mail.to or not chosen.alerts.to):
        outcome = weekly_steps.mailed(chosen, written, clock=steps.utc_now)
    for line in weekly_steps.lines(outcome):
        log.info("%s", line)
    create_markdown_artifact(
        key=ARTIFACT_KEY, markdown=summary(page, outcome), description=f"chipledger week {found.week}"
    )
    if written.faults:
        raise ChipledgerError(
            f"parts of the week could not be made: {'; '.join(written.faults)}",
            hint="The page and the mail say so in their place; the rest is complete",
        )
    if not outcome.is_good:
        raise ChipledgerError(
            f"{len(outcome.failed) + outcome.n_newly_uncertain} of the week's mails did not surely arrive",
            hint="The log names them; the next run sends what failed, but to addresses that the server does not know",
        )
    return Completed(message=f"{found.week}: {len(outcome.sent)} sent", data=page)


def summary(page: Path, outcome: Outcome) -> str:
    """Return the run's page in Markdown: counts and our own words, no text from outside and no address."""
    counts = (
        f"- sent: {len(outcome.sent)}, had it already: {len(outcome.already)}, failed: {len(outcome.failed)}, "
        f"uncertain: {len(outcome.uncertain)}, refused for good: {len(outcome.rejected)}"
    )
    why = [f"- {outcome.left_out}"] if outcome.left_out else []
    return "\n".join((f"# Week {outcome.week}", "", f"- page: `{page.name}`", counts, *why))
