"""What `chipledger doctor` finds outside: hosts of sources, clock, AWS's permissions and quotas, Prefect, mail, alerts.

Each host of a source gets one request, for its robots.txt: that it answers does not show that its prices can be read;
`chipledger check-live` does. No mail, alert or heartbeat is sent. Where AWS credentials are found, each operation that
the sources call is called once; the search for them is boto3's, which asks this machine's metadata service.

EC2 counts running machines in vCPUs, by families and apart for spot: "Running On-Demand P instances", "All Trn Spot
Instance Requests". Reserved terms and Savings Plans run under the on-demand quotas. A quota that AWS does not list for
an account is unknown, not 0. What runs already is not counted.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html,
https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html (read 2026-11-21)
"""

import base64
import csv
import json
import re
import smtplib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import duckdb

import extract
from extract import ecb_rates
from extract.aws import capacity_block_rates, places, price_pages, spot_feed
from extract.aws.capacity_blocks import REFUSALS
from extract.aws.client import EXPIRED, EXPIRED_HINT, REFUSED, UNREADABLE, home_region, session
from extract.base import Source
from flows.alerts import channels
from flows.config.settings import CHAT_ADDRESSES, PASSWORD, DecisionSettings, MailSettings, Settings
from flows.decisions import decide
from flows.doctor.row import Row, fail, ok, warn
from flows.mail import sending
from flows.shared import Clock, Progress
from warehouse.errors import ChipledgerError, SettingsError, SourceError
from warehouse.reference.instance_types import machine_facts

if TYPE_CHECKING:
    from extract.web.http import HttpWeb

CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 5.0, 10.0
AT_ONCE = 16
MAX_FAULT = 160
ROBOTS_LIMIT_BYTES = 1024
WRONG_CLOCK = timedelta(minutes=5)
"""From here on AWS refuses signed requests as expired or not yet valid."""
DOUBTFUL_CLOCK = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a host: a status, or why there is none; how far its clock is ahead of ours, if it is stated."""

    status: int | None = None
    fault: str = ""
    ahead: timedelta | None = None


def hosts(settings: Settings, *, clock: Clock, progress: Progress) -> list[Row]:
    """Return a line for each source that is on and asks hosts of its own, and one for the clock."""
    hosts = {
        source.name: addresses(source, settings.source(source.name))
        for source in extract.SOURCES
        if settings.is_on(source)
    }
    wanted = sorted({root(url) for urls in hosts.values() for url in urls})
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        answers = dict(zip(wanted, pool.map(lambda host: _fetched(host, clock, progress), wanted), strict=True))
    rows = [_reached(name, {root(url): answers[root(url)] for url in urls}) for name, urls in hosts.items() if urls]
    if len(rows) > 1 and all(answer.fault and answer.status is None for answer in answers.values()):
        host, first = next(iter(answers.items()))
        found = f"no host of {len(rows)} sources answers, as {host}: {first.fault[:MAX_FAULT]}"
        rows = [fail("network", found, "Check network, proxy (HTTPS_PROXY) and certificates")]
    return [*rows, _clock(list(answers.values()))] if answers else []


def addresses(source: Source, chosen: Mapping[str, object]) -> tuple[str, ...]:
    """Return the addresses whose hosts a run reads, by the settings; none where AWS's API is used.

    `aws` checks that one operation by operation.
    """
    files = {ecb_rates.NAME: ecb_rates.URL, price_pages.NAME: price_pages.ROOT}
    own = {"url": files.get(source.name, source.url)} if source.kind == "live" and source.polite else {}
    if source.name == capacity_block_rates.SOURCE.name and "url" not in chosen:
        own["file"] = capacity_block_rates.URL
    if source.name == spot_feed.SOURCE.name:
        own = {"prices_url": spot_feed.PRICES_URL, "advisor_url": spot_feed.ADVISOR_URL}
    elif "bulk_url" in source.settings and not places.uses_api(chosen, source=source.name):
        own = {"bulk_url": places.bulk_url(chosen, places.GLOBAL, source=source.name)}
    return tuple(str(chosen.get(name) or url) for name, url in own.items())


def root(url: str) -> str:
    """Return the host of an address, with its scheme and port, and nothing of what may be a secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _fetched(host: str, clock: Clock, progress: Progress) -> Answer:
    if not host.startswith(("http://", "https://")):
        return Answer(fault="not an http(s) URL")
    progress(f"checking {host}")
    try:
        answer = _web().first_bytes(f"{host}/robots.txt", limit_bytes=ROBOTS_LIMIT_BYTES)
    except SourceError as error:
        status = error.value if error.field == "status" and isinstance(error.value, int) else None
        return Answer(status=status, fault=error.message)
    return Answer(status=answer.status, ahead=_ahead(answer.date, clock()))


def _web() -> "HttpWeb":
    from extract.web.http import HttpWeb, Retries

    return HttpWeb(retries=Retries(attempts=1), connect_timeout_s=CONNECT_TIMEOUT_S, read_timeout_s=READ_TIMEOUT_S)


def _ahead(date: str, now: datetime) -> timedelta | None:
    try:
        there = parsedate_to_datetime(date)
    except ValueError:
        return None
    return there.replace(tzinfo=there.tzinfo or UTC) - now


def _reached(name: str, answers: Mapping[str, Answer]) -> Row:
    """Return the line of a source: any answer but a server's own failure shows that its host can be reached."""
    check = f"network: {name}"
    faults = [f"{host}: {answer.fault[:MAX_FAULT]}" for host, answer in answers.items() if answer.fault]
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


def prefect(environ: Mapping[str, str]) -> list[Row]:
    """Return whether the server that the environment names answers us, not anybody, as /health; nothing without one."""
    if not (url := environ.get("PREFECT_API_URL", "").rstrip("/")):
        return []
    headers, place, path = {}, root(url), "hello"
    if key := environ.get("PREFECT_API_KEY"):
        headers, path = {"Authorization": f"Bearer {key}"}, "health"
    elif auth := environ.get("PREFECT_API_AUTH_STRING"):
        headers = {"Authorization": f"Basic {base64.b64encode(auth.encode()).decode()}"}
    try:
        _web().get(f"{url}/{path}", headers=headers)
    except SourceError as error:
        advice = "Start the server, or set PREFECT_API_URL to where it is"
        if error.value in (401, 403):
            advice = "Set PREFECT_API_KEY or PREFECT_API_AUTH_STRING"
        return [fail("Prefect", f"{place}: {error.message}", advice)]
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
        return fail("mail", f"{place}: password refused: {post.fault(error)}", f"Check mail.user, {PASSWORD}")
    except (OSError, smtplib.SMTPException) as error:
        return fail("mail", f"{place}: {post.fault(error)}", "Check mail.host, mail.port and mail.tls")
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
        advice = "Only verified addresses get mail: ask AWS for production access"
        return warn("mail", "Amazon SES: in the sandbox", advice)
    return ok("mail", "Amazon SES may send")


def alerts(settings: Settings) -> list[Row]:
    """Return whether alerts have a recipient, and whether each address can be read; nothing is sent."""
    chosen, urls = settings.alerts, settings.chat_urls()
    try:
        if chosen.to:
            settings.mail_to_send(to=chosen.to)
        names = [channels.chat(url, number=number).name for number, url in enumerate(urls, 1)]
    except SettingsError as error:
        return [fail("alerts", str(error), "docs/mail.md#alerts")]
    if not names and not chosen.to:
        return [ok("alerts", "no recipient", f"Set {CHAT_ADDRESSES} or alerts.to: docs/mail.md#alerts")]
    recipients = [*sorted(name.partition(":")[0] for name in names), *(["mail"] * len(chosen.to))]
    return [ok("alerts", ", ".join(recipients), "`chipledger alert --dry-run` shows them")]


def heartbeat(settings: Settings) -> list[Row]:
    """Return whether somebody notices a dead schedule; it is not called, as a call says that a run was good."""
    if not settings.heartbeat_url:
        return [warn("heartbeat", "none", "Set heartbeat_url: without it nobody learns that the schedule is dead")]
    return [ok("heartbeat", f"{urlsplit(settings.heartbeat_url).hostname} is called after each good run")]


AWS_CONNECT_TIMEOUT_S, AWS_READ_TIMEOUT_S = 3, 5
"""Shorter than those of a run."""
QUOTAS = "service-quotas"


class Permission(NamedTuple):
    """One operation that a source calls: its smallest request, and what being allowed to call it adds."""

    action: str
    request: Mapping[str, object]
    adds: str


_LINES = csv.DictReader((files("flows.doctor") / "permissions.csv").read_text(encoding="utf-8").splitlines())
PERMISSIONS = tuple(Permission(row["action"], json.loads(row["request"]), row["adds"]) for row in _LINES)
"""The policy of docs/settings.md. Five is the least that EC2 takes of types."""

ON_DEMAND = re.compile(r"Running On-Demand (?P<families>.+) instances")
SPOT = re.compile(r"All (?P<families>.+) Spot Instance Requests")
NAMES = {"on_demand": ON_DEMAND, "reserved": ON_DEMAND, "savings_plan": ON_DEMAND, "spot": SPOT}
"""Which quotas count for a purchase option. What a Capacity Block needs is not documented in vCPUs, so it has none."""
FAMILY = re.compile(r"(?P<letters>[a-z]+)(?P<generation>\d*)")

Quotas = Mapping[str, float]
"""The quotas of one region: vCPUs by name of the quota."""


@dataclass(frozen=True, order=True)
class Need:
    """One of AWS's machines that is the best option, or the next, for some workloads."""

    instance_type: str
    region_id: str
    purchase_option: str
    is_seen: bool
    workloads: str


def aws(settings: Settings) -> list[Row]:
    """Return access, permissions and quotas; AWS is called only where credentials are found."""
    if not any(source.name.startswith("aws_") and settings.is_on(source) for source in extract.SOURCES):
        return [ok("AWS", "no source of AWS is on")]
    chosen = settings.source("aws_price_list")
    has_credentials = places.uses_api({"access": "auto"}, source="aws_price_list")
    rows = _permissions(has_credentials=has_credentials)
    faults = [
        f"{row['check']} is denied" for row in rows if re.match("pricing:.*denied", f"{row['check']}{row['found']}")
    ]
    if all(str(row["found"]).startswith("not checked") for row in rows):
        faults = [f"the credentials found do not work ({rows[0]['found']})"]
    if not places.uses_api(chosen, source="aws_price_list"):
        advice = "With credentials (pricing:GetProducts) the same prices come in fewer bytes"
        access = ok("AWS prices", "through the public bulk files, without credentials", advice)
    elif faults and chosen.get("access") != "api":
        access = ok("AWS prices", f"through the public bulk files, as {faults[0]}")
    else:
        access = (warn if faults else ok)("AWS prices", "through the Price List API, with the credentials found")
    return [access, *rows, *_quotas(settings, has_credentials=has_credentials)]


def _permissions(*, has_credentials: bool) -> list[Row]:
    """Return for each operation whether it is allowed. Names of errors only: their messages may hold keys."""
    if not has_credentials:
        return [_note(each, "not checked: no credentials") for each in PERMISSIONS]
    # Imported here: the shell must not wait for boto3 where nothing is called.
    import botocore.exceptions

    try:
        clients = _clients()
    except (botocore.exceptions.BotoCoreError, ValueError) as error:
        return [_note(each, _fault(error)) for each in PERMISSIONS]
    with ThreadPoolExecutor(max_workers=len(PERMISSIONS)) as pool:
        return list(pool.map(lambda each: _permission(clients[each.action.partition(":")[0]], each), PERMISSIONS))


def _quotas(settings: Settings, *, has_credentials: bool) -> list[Row]:
    """Return for each of AWS's best options whether the account's quota allows one machine; nothing without a file."""
    file = settings.data_dir / "prices.duckdb"
    if not file.exists():
        return []
    try:
        needs = needed(file, settings.decision)
    except ChipledgerError as error:
        return [warn("quotas", f"not checked: {error}", "`chipledger build` makes the file anew")]
    if not needs:
        return [warn("quotas", "not checked: no option of AWS is the best of any workload")]
    return checked(needs, _quotas_of if has_credentials else lambda _region: "not checked: no credentials")


def _quotas_of(region: str) -> Quotas | str:
    """Return a region's quotas of EC2, in vCPUs by name, or why there is no answer, by name of the error."""
    from botocore import exceptions
    from botocore.parsers import ResponseParserError

    try:
        made = session(AWS_CONNECT_TIMEOUT_S, AWS_READ_TIMEOUT_S)
        client: Any = made.create_client(QUOTAS, region_name=region, config=_config())
        pages = client.get_paginator("list_service_quotas").paginate(ServiceCode="ec2")
        return {quota["QuotaName"]: quota["Value"] for page in pages for quota in page["Quotas"] if "Value" in quota}
    except (exceptions.ClientError, exceptions.BotoCoreError, ResponseParserError, *UNREADABLE) as error:
        return _fault(error)


def _fault(error: Exception) -> str:
    """Return why AWS gave no answer, by the name of the error."""
    from botocore import exceptions

    if isinstance(error, exceptions.ClientError):
        return f"no answer: {error.response.get('Error', {}).get('Code', '')}"
    # What is no failure of the network is configuration: an SSO session that is over, a role.
    failed = exceptions.HTTPClientError, exceptions.ConnectionError
    kind = "no answer" if isinstance(error, failed) else "not checked"
    return f"{kind}: {type(error).__name__}"


def _config() -> Any:
    from botocore.config import Config

    from extract.web.http import user_agent

    return Config(retries={"total_max_attempts": 1, "mode": "standard"}, user_agent_extra=user_agent().split(" ")[0])


def _clients() -> dict[str, Any]:
    """Return a client of each service in the region where the sources ask first, with one attempt and little time."""
    home = home_region()
    central = places.partition_of(home).api_region
    made, config = session(AWS_CONNECT_TIMEOUT_S, AWS_READ_TIMEOUT_S), _config()
    regions = {"pricing": central, "savingsplans": central, "ec2": home, QUOTAS: home}
    clients = {name: made.create_client(name, region_name=region, config=config) for name, region in regions.items()}
    return clients | {"servicequotas": clients[QUOTAS]}  # as policies call it


def _permission(client: Any, permission: Permission) -> Row:
    from botocore import exceptions, xform_name
    from botocore.parsers import ResponseParserError

    try:
        getattr(client, xform_name(permission.action.partition(":")[2]))(**permission.request)
    except exceptions.ClientError as error:
        answer: Any = error.response
        code, message = answer.get("Error", {}).get("Code", ""), answer.get("Error", {}).get("Message", "")
        if not any(known in message for known in REFUSALS):  # which are answers about what the region sells
            refused = code in REFUSED or answer.get("ResponseMetadata", {}).get("HTTPStatusCode") in (401, 403)
            found = f"denied: {code}" if refused else _fault(error)
            return warn(permission.action, found, EXPIRED_HINT) if EXPIRED.match(code) else _note(permission, found)
    except (exceptions.BotoCoreError, ResponseParserError, *UNREADABLE) as error:  # the last of a page in its place
        return _note(permission, _fault(error))
    return ok(permission.action, "allowed")


def _note(permission: Permission, found: str) -> Row:
    return warn(permission.action, found, f"Would add {permission.adds}")


def needed(file: Path, decision: DecisionSettings) -> list[Need]:
    """Return the machines of AWS's best options for the workloads. Raises ChipledgerError where the file has none."""
    machines: dict[tuple[str, str, str], tuple[bool, set[str]]] = {}
    months = decision.horizon_months or 12
    for name, workload in decide.workloads().items():
        load: Any = {"deadline_days": months * 365 / 12} if "training_tokens" in workload else {"tokens_per_day": 1e9}
        terms: Any = {"providers": ("AWS",), "regions": decision.regions, "months": months}
        try:
            options = decide.options(file, decide.Load(**workload, **load, **terms))
        except SettingsError:  # nobody measured it
            continue
        except duckdb.Error as error:
            raise ChipledgerError(str(error).splitlines()[0], source=str(file)) from error
        for row in options[:1]:
            key = row["instance_type"], row["region_id"], row["purchase_option"]
            seen, names = machines.setdefault(key, (row["last_obtainable_at"] is not None, set()))
            machines[key] = seen, names | {name}
    return sorted(Need(*key, is_seen, ", ".join(sorted(names))) for key, (is_seen, names) in machines.items())


def quota_of(need: Need, quotas: Quotas) -> tuple[str, float] | None:
    """Return the quota that counts for a machine, by name and in vCPUs; None where none of those listed names it.

    AWS names families by letters (P, Trn, "G and VT"), and some of spot by generation too ("P5", "P4, P3 and P2").
    """
    form = NAMES.get(need.purchase_option)
    family = FAMILY.match(need.instance_type)
    if form is None or family is None:
        return None
    by_family = {
        name.lower(): quota
        for quota in quotas
        if (match := form.fullmatch(quota))
        for name in re.split(r", | and ", match["families"])
    }
    for name in (family["letters"] + family["generation"], family["letters"]):
        if name in by_family:
            return by_family[name], quotas[by_family[name]]
    return None


def checked(needs: Sequence[Need], read: Callable[[str], Quotas | str]) -> list[Row]:
    """Return a row of the doctor for each machine; `read` gives the quotas of a region, or why there is no answer."""
    answers = {region: read(region) for region in sorted({need.region_id for need in needs})}
    return [_quota_row(need, answers[need.region_id]) for need in needs]


def _quota_row(need: Need, quotas: Quotas | str) -> Row:
    check = f"quota: {need.instance_type} {need.purchase_option} in {need.region_id}"
    advice = f"Best, or best of AWS, for {need.workloads}"
    unseen = "" if need.is_seen else "; never seen obtainable"
    facts = (fact for fact in machine_facts() if fact.machine == need.instance_type and fact.fact == "vcpus")
    vcpus = next((fact.value for fact in facts), None)
    if isinstance(quotas, str):
        found = quotas
    elif need.purchase_option not in NAMES:
        found = f"no quota in vCPUs is known for {need.purchase_option}"
    elif (quota := quota_of(need, quotas)) is None:
        found = "the account lists no quota that names its family"
    elif vcpus is None:
        found = f"{quota[0]}: {quota[1]:g} vCPUs; how many it needs is not known"
    elif quota[1] >= vcpus:
        return ok(check, f"{quota[0]}: {quota[1]:g} vCPUs, one needs {vcpus:g}{unseen}", advice)
    else:
        found = f"NOT ALLOWED. {quota[0]}: {quota[1]:g} vCPUs, one needs {vcpus:g}"
        advice = f"Ask AWS for {vcpus:g} or more. {advice}"
    return warn(check, found + unseen, advice)
