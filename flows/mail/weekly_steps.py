"""The steps of a week: its page, its feeds, its mail; the same for the command line and for Prefect."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from flows.collect import fetch_times
from flows.config.settings import MailSettings, Settings
from flows.mail import sending
from flows.shared import Clock
from reports.pages import feed
from reports.queries import opened
from reports.weekly import facts, fleet, news
from reports.weekly import mail as letters
from reports.weekly.calendar import FOLDER, Week
from reports.weekly.page import Written, write
from warehouse import disk
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.log.events import naive

WAIT = timedelta(days=1)
"""So long after its end a week waits for a file in which it is over."""
LOG = logging.getLogger(__name__)
NOBODY = "prices@localhost"
"""Sender and recipient of a dry run without [mail]."""


def report(settings: Settings, week: str | None, *, known_then: bool = False, clock: Clock | None = None) -> Written:
    """Write the page of a week and the feeds.

    With a clock a week counts as over a day after its end though nothing was published since: nobody learnt otherwise
    that nothing is read. The archive of the package has its own clock.
    """
    shown = settings.shown()
    file, folder = settings.published(), shown.data_dir / "reports"
    now = naive(clock() - WAIT) if clock and shown is settings else None
    found = _read(shown, file, Week.parse(week) if week else None, known_then=known_then, now=now)
    written = write(found, folder)
    with opened(file) as published:  # the feed links the pages that are there
        feed.write(published, folder)
    return written


def after_run(settings: Settings, file: Path, *, clock: Clock) -> tuple[str, ...]:
    """Write page and dry-run message of the last full week of a file that was just published, without charts.

    None of a week that was over before anything was read. Nothing is sent. Returns why parts of them could not be made.
    """
    found = _read(settings, file, None)
    if found.is_before_all:
        return ()
    written = write(found, settings.data_dir / "reports", draw=False)
    _, faults = put_message(settings, written, clock=clock, draw=False)
    return (*written.faults, *faults)


def _read(settings: Settings, file: Path, week: Week | None, **how: Any) -> facts.WeekFacts:
    """Return the facts of a week as the settings want them; `how`: known_then and now of `facts.read`."""
    least, shown_in = settings.mail.min_change_percent / 100, settings.reporting_currency
    read = partial(facts.read, file, week, chips=settings.mail.chips, least=least, shown_in=shown_in, **how)
    try:
        return read()
    except duckdb.FatalException as error:  # an internal fault, seen once under load: the connection is of no use then
        LOG.warning("DuckDB failed, the week is read once more: %s", str(error).splitlines()[0])
        return read()


def put_message(
    settings: Settings, written: Written, *, clock: Clock, draw: bool = True
) -> tuple[Path, tuple[str, ...]]:
    """Write the message that the first recipient would get into `mail/<week>.eml`.

    Returns its path, and why sections of it could not be made.
    """
    mail = settings.mail  # of which a message that is not sent needs the names alone
    chosen = mail.model_copy(update={"sender": mail.sender or NOBODY, "to": mail.to or (NOBODY,)})
    letter = _written(settings, written, chosen, draw=draw)
    message = letters.message(letter, sender=chosen.sender, to=chosen.to[0], reply_to=chosen.reply_to, at=clock())
    target = settings.shown().data_dir / "mail" / f"{written.page.stem}.eml"
    with disk.replacing(target) as part:
        part.write_bytes(letters.as_bytes(message))
    return target, letter.faults


def send(
    settings: Settings, week: str | None, *, known_then: bool = False, again: bool = False, clock: Clock
) -> sending.Outcome:
    """Write the page of a week and send its mail. Raises SettingsError where [mail] is missing or wrong."""
    if week:
        Week.parse(week)  # a wrong week is said before settings that are missing
    settings.mail_to_send()  # and these before the page is written
    return mailed(settings, report(settings, week, known_then=known_then, clock=clock), again=again, clock=clock)


def mailed(
    settings: Settings, written: Written, *, again: bool = False, clock: Clock, post: sending.Post | None = None
) -> sending.Outcome:
    """Send the mail of a week whose page was written. Raises ChipledgerError where [mail] or the clock is wrong."""
    chosen, found = settings.mail_to_send(), written.found
    if not found.is_over:
        hint = "A week is mailed once: wait for its end, run `chipledger run`, then mail; or use --dry-run"
        raise SettingsError(
            "the week is not over in the published file", field="week", value=str(found.week), hint=hint
        )
    if not found.n_checked and (wrong := fetch_times.of_clock(settings.landing(), clock())):
        raise ChipledgerError("this machine's clock is wrong", field="week", value=str(found.week), hint=wrong)
    if found.is_before_all:
        return sending.Outcome(week=str(found.week), left_out=f"nothing was read in it: {news.why_nothing(found)}")
    if found.is_quiet and not chosen.send_quiet:
        return sending.Outcome(week=str(found.week), left_out="a quiet week, which [mail] leaves out")
    letter = _written(settings, written, chosen)
    record, how = sending.record(settings.data_dir, settings.shared_records()), post or sending.post_of(chosen)
    outcome = sending.send(record, letter, chosen, post=how, clock=clock, again=again)
    outcome.faults = letter.faults
    return outcome


def lines(outcome: sending.Outcome) -> Iterator[str]:
    """Yield what became of a week's mail, for people."""
    if outcome.left_out:
        yield f"{outcome.week}: {outcome.left_out}"
        return
    yield f"{outcome.week}: {len(outcome.sent)} sent, {len(outcome.already)} had it already"
    for to, error in outcome.failed.items():
        again = " --again" if to in outcome.rejected else ""
        yield f"failed; when it is mended, `chipledger mail --week {outcome.week}{again}` sends it: {to}: {error}"
    for to in outcome.rejected:
        if to not in outcome.failed:
            yield f"refused for good, and not tried again without --again: {to}"
    for to in outcome.uncertain:
        yield f"may have arrived, and is not sent again without --again: {to}"
    for fault in outcome.faults:
        yield f"sent without a section that could not be made: {fault}"


def _written(settings: Settings, written: Written, chosen: MailSettings, *, draw: bool = True) -> letters.Letter:
    """Return the mail of a week, with what it means to the user's own fleet, where there is one."""
    private, with_contracted = settings.shown().data_dir / "private.duckdb", settings.private.in_mail
    found = replace(written.found, fleet=fleet.read(private, written.found, with_contracted=with_contracted))
    url = f"{chosen.site_url}/{FOLDER}/{written.page.name}" if chosen.site_url else ""
    return letters.letter(found, page_url=url, draw=draw)
