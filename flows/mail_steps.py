"""The steps of a week: its page, its feeds, its mail; the same for the command line and for Prefect."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flows import mail, mail_settings
from flows.mail_settings import MailSettings
from flows.settings import Settings
from reports import weekly
from reports.weekly_calendar import Week
from warehouse.errors import SettingsError

if TYPE_CHECKING:
    from reports.mail import Letter
    from reports.weekly_facts import WeekFacts

Clock = Callable[[], datetime]

NOBODY = "prices@localhost"
"""Sender and recipient of a dry run without [mail]."""


def report(settings: Settings, week: str | None, *, known_then: bool = False) -> tuple["WeekFacts", Path]:
    """Write the page of a week and the feeds; return its facts and its path."""
    from reports import feed

    settings = settings.shown()
    file, folder = settings.published(), settings.data_dir / "reports"
    found = weekly.read(
        file, Week.parse(week) if week else None, known_then=known_then, shown_in=settings.reporting_currency
    )
    page = weekly.write(found, folder)
    feed.write(file, folder)
    return found, page


def dry_run(settings: Settings, week: str | None, *, known_then: bool = False, clock: Clock) -> Path:
    """Write the message that the first recipient would get into `mail/<week>.eml`; return its path."""
    from reports import mail as letters

    chosen = chosen_mail(settings) if settings.mail else MailSettings(sender=NOBODY, to=(NOBODY,))
    found, page = report(settings, week, known_then=known_then)
    written = _written(settings, found, page, chosen)
    message = letters.message(written, sender=chosen.sender, to=chosen.to[0], reply_to=chosen.reply_to, at=clock())
    target = settings.shown().data_dir / "mail" / f"{page.stem}.eml"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(message.as_bytes())
    return target


def send(
    settings: Settings,
    week: str | None,
    *,
    known_then: bool = False,
    again: bool = False,
    clock: Clock,
    post: mail.Post | None = None,
) -> mail.Outcome:
    """Write the page of a week and send its mail. Raises SettingsError where [mail] is missing or wrong."""
    chosen = chosen_mail(settings)
    found, page = report(settings, week, known_then=known_then)
    if not found.is_over:
        raise SettingsError(
            "the week is not over in the published file",
            field="week",
            value=str(found.week),
            hint="A week is mailed once: wait for its end, run `chipledger run`, then mail; or use --dry-run",
        )
    if found.is_quiet and not chosen.send_quiet:
        return mail.Outcome(week=str(found.week), is_left_out=True)
    return mail.send(
        settings.data_dir,
        _written(settings, found, page, chosen),
        chosen,
        post=post or mail.post_of(chosen),
        clock=clock,
        again=again,
    )


def chosen_mail(settings: Settings) -> MailSettings:
    """Return the settings of mail. Raises SettingsError where they are missing or wrong."""
    if not settings.mail:
        raise SettingsError("mail is not set up", field="mail", hint="docs/mail.md shows the table [mail]")
    return mail_settings.read(settings.mail, os.environ)


def lines(outcome: mail.Outcome) -> Iterator[str]:
    """Yield what became of a week's mail, for people."""
    if outcome.is_left_out:
        yield f"{outcome.week}: a quiet week, which [mail] leaves out"
        return
    yield f"{outcome.week}: {len(outcome.sent)} sent, {len(outcome.already)} had it already"
    for to, error in outcome.failed.items():
        yield f"failed, will be sent again by the next call: {to}: {error}"
    for to in outcome.uncertain:
        yield f"may have arrived, and is not sent again without --again: {to}"


def with_fleet(settings: Settings, found: "WeekFacts") -> "WeekFacts":
    """Return a week's facts with what they mean to the user's own fleet, where there is one; for the mail alone."""
    file = settings.data_dir / "private.duckdb"
    if not file.exists():
        return found
    from dataclasses import replace

    from flows import private_settings
    from reports import weekly_fleet

    told = weekly_fleet.read(file, found, with_contracted=private_settings.read(settings).in_mail)
    return replace(found, fleet=told)


def _written(settings: Settings, found: "WeekFacts", page: Path, chosen: MailSettings) -> "Letter":
    from reports import mail as letters

    url = f"{chosen.site_url}/{weekly.FOLDER}/{page.name}" if chosen.site_url else ""
    return letters.letter(with_fleet(settings, found), least=chosen.least_change, page_url=url)
