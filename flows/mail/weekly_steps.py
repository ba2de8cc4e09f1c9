"""The steps of a week: its page, its feeds, its mail; the same for the command line and for Prefect."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from flows.config.settings import MailSettings, Settings
from flows.mail import sending
from flows.shared import Clock
from reports.pages import feed
from reports.queries import opened
from reports.weekly import fleet, pages
from reports.weekly import mail as letters
from reports.weekly.calendar import FOLDER, Week
from reports.weekly.pages import Written
from warehouse.errors import SettingsError

NOBODY = "prices@localhost"
"""Sender and recipient of a dry run without [mail]."""


def report(settings: Settings, week: str | None, *, known_then: bool = False) -> Written:
    """Write the page of a week and the feeds."""
    settings = settings.shown()
    file, folder = settings.published(), settings.data_dir / "reports"
    written = _page(settings, file, Week.parse(week) if week else None, known_then=known_then)
    with opened(file) as published:
        feed.write(published, folder)
    return written


def after_run(settings: Settings, file: Path, *, clock: Clock) -> tuple[str, ...]:
    """Write page and dry-run message of the last full week of a file that was just published, without charts.

    Nothing is sent. Returns why parts of them could not be made.
    """
    written = _page(settings, file, None, draw=False)
    _, faults = _put_message(settings, written, clock=clock, draw=False)
    return (*written.faults, *faults)


def _page(settings: Settings, file: Path, week: Week | None, *, known_then: bool = False, draw: bool = True) -> Written:
    least, shown_in = settings.mail.min_change_percent / 100, settings.reporting_currency
    found = pages.read(file, week, known_then=known_then, chips=settings.mail.chips, least=least, shown_in=shown_in)
    return pages.write(found, settings.data_dir / "reports", draw=draw)


def dry_run(
    settings: Settings, week: str | None, *, known_then: bool = False, clock: Clock
) -> tuple[Path, tuple[str, ...]]:
    """Write the message that the first recipient would get into `mail/<week>.eml`.

    Returns its path, and why sections of it could not be made.
    """
    return _put_message(settings, report(settings, week, known_then=known_then), clock=clock)


def _put_message(
    settings: Settings, written: Written, *, clock: Clock, draw: bool = True
) -> tuple[Path, tuple[str, ...]]:
    mail = settings.mail  # of which a message that is not sent needs the names alone
    chosen = mail.model_copy(update={"sender": mail.sender or NOBODY, "to": mail.to or (NOBODY,)})
    letter = _written(settings, written, chosen, draw=draw)
    message = letters.message(letter, sender=chosen.sender, to=chosen.to[0], reply_to=chosen.reply_to, at=clock())
    target = settings.shown().data_dir / "mail" / f"{written.page.stem}.eml"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(letters.as_bytes(message))
    return target, letter.faults


def send(
    settings: Settings,
    week: str | None,
    *,
    known_then: bool = False,
    again: bool = False,
    clock: Clock,
    post: sending.Post | None = None,
) -> sending.Outcome:
    """Write the page of a week and send its mail. Raises SettingsError where [mail] is missing or wrong."""
    if week:
        Week.parse(week)  # a wrong week is said before settings that are missing
    chosen = settings.mail_to_send()
    written = report(settings, week, known_then=known_then)
    found = written.found
    if not found.is_over:
        hint = "A week is mailed once: wait for its end, run `chipledger run`, then mail; or use --dry-run"
        raise SettingsError(
            "the week is not over in the published file", field="week", value=str(found.week), hint=hint
        )
    if not found.faults and found.is_quiet and not chosen.send_quiet:
        return sending.Outcome(week=str(found.week), is_left_out=True)
    letter = _written(settings, written, chosen)
    record, how = sending.record(settings.data_dir, settings.shared_records()), post or sending.post_of(chosen)
    outcome = sending.send(record, letter, chosen, post=how, clock=clock, again=again)
    outcome.faults = letter.faults
    return outcome


def lines(outcome: sending.Outcome) -> Iterator[str]:
    """Yield what became of a week's mail, for people."""
    if outcome.is_left_out:
        yield f"{outcome.week}: a quiet week, which [mail] leaves out"
        return
    yield f"{outcome.week}: {len(outcome.sent)} sent, {len(outcome.already)} had it already"
    for to, error in outcome.failed.items():
        yield f"failed; when it is mended, `chipledger mail --week {outcome.week}` sends it: {to}: {error}"
    for to in outcome.uncertain:
        yield f"may have arrived, and is not sent again without --again: {to}"
    for fault in outcome.faults:
        yield f"sent without a section that could not be made: {fault}"


def _written(settings: Settings, written: Written, chosen: MailSettings, *, draw: bool = True) -> letters.Letter:
    """Return the mail of a week, with what it means to the user's own fleet, where there is one."""
    private, with_contracted = settings.data_dir / "private.duckdb", settings.private.in_mail
    found = replace(written.found, fleet=fleet.read(private, written.found, with_contracted=with_contracted))
    url = f"{chosen.site_url}/{FOLDER}/{written.page.name}" if chosen.site_url else ""
    return letters.letter(found, page_url=url, draw=draw)
