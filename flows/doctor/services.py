"""What `chipledger doctor` finds of the ways out: Prefect's server, mail, alerts, heartbeat. Nothing is sent by any."""

import base64
import smtplib
from collections.abc import Mapping
from urllib.parse import urlsplit

from flows.config.settings import CHAT_ADDRESSES, PASSWORD, MailSettings, Settings
from flows.doctor.row import Row, fail, ok, warn
from flows.mail import sending
from warehouse.errors import SettingsError, SourceError

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
        told = f"{place}: {type(error).__name__}: {post.told(error)}"
        return fail("mail", told, "Check mail.host, mail.port and mail.tls")
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
    """Return whether anybody is told at once, and whether each address can be read; none is told now."""
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
        return [
            ok("alerts", "nobody is told", f"Addresses stand in {CHAT_ADDRESSES} and alerts.to: docs/mail.md#alerts")
        ]
    services = sorted(name.partition(":")[0] for name in names)
    return [
        ok("alerts", ", ".join([*services, *(["mail"] * len(chosen.to))]), "`chipledger alert --dry-run` shows them")
    ]


def heartbeat(settings: Settings) -> list[Row]:
    """Return whether somebody notices a dead schedule; it is not called, as a call says that a run was good."""
    if not settings.heartbeat_url:
        return [warn("heartbeat", "none", "heartbeat_url: without it nobody is told that the schedule is dead")]
    return [ok("heartbeat", f"{urlsplit(settings.heartbeat_url).hostname} is called after each good run")]
