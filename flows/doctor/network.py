"""What `chipledger doctor` finds on the network: hosts of sources, clock, Prefect, mail, alerts, heartbeat.

Each host of a source gets one request, for its robots.txt, with one attempt and little time. That a host answers does
not show that its prices can be read; `chipledger collect --source NAME` does. No mail, alert or heartbeat is sent.
"""

import base64
import smtplib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flows.config.settings import CHAT_ADDRESSES, PASSWORD, MailSettings, Settings
from flows.doctor.row import Row, fail, ok, warn
from flows.mail import sending
from warehouse.errors import SettingsError, SourceError

if TYPE_CHECKING:
    from extract.base import Source

CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 5.0, 10.0
AT_ONCE = 16
LONGEST_FAULT = 160
ROBOTS_LIMIT_BYTES = 1024
WRONG_CLOCK = timedelta(minutes=5)
"""From here on AWS refuses signed requests as expired or not yet valid."""
DOUBTFUL_CLOCK = timedelta(seconds=30)
ADDRESSES = ("url", "bulk_url", "prices_url", "advisor_url")
"""Settings of a source that put another address in place of its own; `archive_url` is for backfills alone."""

Clock = Callable[[], datetime]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a host: a status, or why there is none; how far its clock is ahead of ours, if it is stated."""

    status: int | None = None
    fault: str = ""
    ahead: timedelta | None = None


def checks(settings: Settings, *, clock: Clock, progress: Callable[[str], None]) -> list[Row]:
    """Return a line for each source that is on and asks hosts of its own, and one for the clock."""
    from extract import SOURCES

    hosts = {
        source.name: addresses(source, settings.source(source.name)) for source in SOURCES if settings.is_on(source)
    }
    wanted = sorted({root(url) for urls in hosts.values() for url in urls})
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        answers = dict(zip(wanted, pool.map(lambda host: _fetched(host, clock, progress), wanted), strict=True))
    rows = [_reached(name, {root(url): answers[root(url)] for url in urls}) for name, urls in hosts.items() if urls]
    return [*rows, _clock(list(answers.values()))] if answers else []


def addresses(source: "Source", chosen: Mapping[str, object]) -> tuple[str, ...]:
    """Return the addresses whose hosts a run reads, by the settings; none where AWS's API is used.

    `flows.doctor.aws` checks that one operation by operation.
    """
    from extract import ecb_rates
    from extract.aws import capacity_block_rates, places, spot_feed

    own: dict[str, str] = {}
    if "url" in source.settings and source.kind == "live":
        own = {"url": source.url}
    if source.name in (capacity_block_rates.SOURCE.name, ecb_rates.SOURCE.name):
        own = {"url": (ecb_rates if source.name == ecb_rates.SOURCE.name else capacity_block_rates).URL}
    elif source.name == spot_feed.SOURCE.name:
        own = {"prices_url": spot_feed.PRICES_URL, "advisor_url": spot_feed.ADVISOR_URL}
    elif "bulk_url" in source.settings and places.access(chosen, source=source.name) == "bulk":
        own = {"bulk_url": places.bulk_url(chosen, places.GLOBAL, source=source.name)}
    return tuple(str(chosen.get(name) or url) for name, url in own.items())


def root(url: str) -> str:
    """Return the host of an address, with its scheme and port, and nothing of what may be a secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _fetched(host: str, clock: Clock, progress: Callable[[str], None]) -> Answer:
    from extract.web.http import HttpWeb, Retries

    if not host.startswith(("http://", "https://")):
        return Answer(fault="not an http(s) URL")
    progress(f"checking {host}")
    web = HttpWeb(retries=Retries(attempts=1), connect_timeout_s=CONNECT_TIMEOUT_S, read_timeout_s=READ_TIMEOUT_S)
    try:
        answer = web.first_bytes(f"{host}/robots.txt", limit_bytes=ROBOTS_LIMIT_BYTES)
    except SourceError as error:
        status = error.value if error.field == "status" and isinstance(error.value, int) else None
        return Answer(status=status, fault=error.message)
    return Answer(status=answer.status, ahead=_ahead(answer.date, clock()))


def _ahead(date: str, now: datetime) -> timedelta | None:
    try:
        there = parsedate_to_datetime(date)
    except ValueError:
        return None
    return there.replace(tzinfo=there.tzinfo or UTC) - now


def _reached(name: str, answers: Mapping[str, Answer]) -> Row:
    """Return the line of a source: any answer but a server's own failure shows that its host can be reached."""
    check = f"network: {name}"
    faults = [f"{host}: {answer.fault[:LONGEST_FAULT]}" for host, answer in answers.items() if answer.fault]
    if not faults:
        return ok(check, ", ".join(f"{host} answers" for host in answers))
    advice = f"Try again later, or `enabled = false` in [sources.{name}]"
    if any(answer.fault and answer.status is None for answer in answers.values()):
        return fail(check, "; ".join(faults), f"Check network, proxy (HTTPS_PROXY) and certificates. {advice}")
    return warn(check, "; ".join(faults), advice)


def _clock(answers: list[Answer]) -> Row:
    """Return how far this clock is from that of the hosts that answered: the middle one, as any may be wrong."""
    ahead = [answer.ahead for answer in answers if answer.ahead is not None]
    if not ahead:
        return warn("clock", "no host stated the time", "Without a network the clock cannot be compared")
    # Hosts name whole seconds, and an answer takes a moment: a second is nothing.
    off = timedelta(seconds=median(each.total_seconds() for each in ahead))
    found = f"{abs(off).total_seconds():.0f} s {'behind' if off > timedelta(0) else 'ahead of'} {len(ahead)} hosts"
    if abs(off) >= WRONG_CLOCK:
        return fail("clock", found, "Set it (`timedatectl set-ntp true`): prices are dated by it, and AWS refuses it")
    if abs(off) >= DOUBTFUL_CLOCK:
        return warn("clock", found, "Set it (`timedatectl set-ntp true`): prices are dated by it")
    return ok("clock", found)


TIMEOUT_S = 10.0


def prefect(environ: Mapping[str, str]) -> list[Row]:
    """Return whether the server that the environment names answers us; nothing where none is named."""
    url = environ.get("PREFECT_API_URL", "").rstrip("/")
    if not url:
        return []
    from extract.web.http import HttpWeb, Retries

    web = HttpWeb(retries=Retries(attempts=1), connect_timeout_s=TIMEOUT_S, read_timeout_s=TIMEOUT_S)
    headers = {}
    if key := environ.get("PREFECT_API_KEY"):
        headers = {"Authorization": f"Bearer {key}"}
    elif auth := environ.get("PREFECT_API_AUTH_STRING"):
        headers = {"Authorization": f"Basic {base64.b64encode(auth.encode()).decode()}"}
    parts = urlsplit(url)
    place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    try:
        web.get(f"{url}/health", headers=headers)
    except SourceError as error:
        if error.value in (401, 403):
            return [fail("Prefect", f"{place}: {error.message}", "Set PREFECT_API_KEY or PREFECT_API_AUTH_STRING")]
        return [fail("Prefect", f"{place}: {error.message}", "Start the server, or set PREFECT_API_URL to where it is")]
    return [ok("Prefect", f"{place} answers")]


def mails(settings: Settings) -> list[Row]:
    """Return whether the mail server takes us: connection, TLS and password, and no message."""
    if not settings.mail.is_set:
        return [ok("mail", "not set up", "docs/mail.md shows the table [mail]")]
    try:
        chosen = settings.mail_to_send(to=settings.alerts.to)
    except SettingsError as error:
        return [fail("mail", str(error), "docs/mail.md shows the table [mail]")]
    return [_ses(chosen) if chosen.transport == "ses" else _smtp(sending.Smtp(chosen))]


def _smtp(post: sending.Smtp) -> Row:
    chosen = post.settings
    place = f"{chosen.host}:{chosen.port}"
    try:
        post.greet()
    except smtplib.SMTPAuthenticationError as error:
        return fail("mail", f"{place}: password refused ({error.smtp_code})", f"Check mail.user, {PASSWORD}")
    except (OSError, smtplib.SMTPException) as error:
        fault = f"{place}: {type(error).__name__}: {post.redacted(error)}"
        return fail("mail", fault, "Check mail.host, mail.port and mail.tls")
    how = "without TLS" if chosen.tls == "none" else f"with TLS ({chosen.tls})"
    return ok("mail", f"{place} takes us {how}, {'with password' if chosen.user else 'without password'}")


def _ses(chosen: MailSettings) -> Row:
    """Ask Amazon SES whether the account may send; being refused that question says nothing of sending."""
    from botocore import exceptions

    advice = "ses:GetAccount would let the doctor say more; sending needs ses:SendEmail"
    try:
        account = sending.Ses(chosen).client().get_account()
    except exceptions.ClientError as error:
        return warn("mail", f"Amazon SES: {error.response.get('Error', {}).get('Code', '')}", advice)
    except (exceptions.BotoCoreError, sending.Refused) as error:
        return fail("mail", f"Amazon SES: {type(error).__name__}", "Set mail.region, and credentials as for boto3")
    if not account.get("SendingEnabled"):
        return fail("mail", "Amazon SES: sending is not enabled", "Ask AWS to enable it for the account")
    if not account.get("ProductionAccessEnabled"):
        return warn(
            "mail", "Amazon SES: in the sandbox", "Only verified addresses get mail: ask AWS for production access"
        )
    return ok("mail", "Amazon SES may send")


def alerts(settings: Settings) -> list[Row]:
    """Return whether alerts have a recipient, and whether each address can be read; nothing is sent."""
    urls = settings.chat_urls()
    try:
        chosen = settings.alerts
        if chosen.to:
            settings.mail_to_send(to=chosen.to)
        if urls:
            from flows.alerts import channels

            names = [channels.chat(url, number=number).name for number, url in enumerate(urls, 1)]
        else:
            names = []
    except SettingsError as error:
        return [fail("alerts", str(error), "docs/mail.md#alerts")]
    if not names and not chosen.to:
        return [ok("alerts", "no recipient", f"Set {CHAT_ADDRESSES} or alerts.to: docs/mail.md#alerts")]
    services = sorted(name.partition(":")[0] for name in names)
    return [
        ok("alerts", ", ".join([*services, *(["mail"] * len(chosen.to))]), "`chipledger alert --dry-run` shows them")
    ]


def heartbeat(settings: Settings) -> list[Row]:
    """Return whether somebody notices a dead schedule; it is not called, as a call says that a run was good."""
    if not settings.heartbeat_url:
        return [warn("heartbeat", "none", "Set heartbeat_url: without it nobody learns that the schedule is dead")]
    return [ok("heartbeat", f"{urlsplit(settings.heartbeat_url).hostname} is called after each good run")]
