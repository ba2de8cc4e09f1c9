"""The table [mail] of the settings: to whom the weekly mail goes, from whom, and through what.

The password stands in an environment variable alone; a file with one is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from email.headerregistry import Address
from typing import Any

from warehouse.errors import SettingsError

PASSWORD = "CHIPLEDGER_MAIL_PASSWORD"  # noqa: S105 (the name of a variable)
PORTS = {"starttls": 587, "implicit": 465, "none": 25}
THROUGH = ("smtp", "ses")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_ADDRESS = 254
"""RFC 5321, 4.5.3.1.3, without the brackets."""


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """Where the weekly mail goes, and how.

    `sender`, `to`, `reply_to`: plain addresses; every one of `to` has a message of its own. `through`: smtp or ses.
    `tls`: starttls, implicit, or none. `site_url`: where the reports folder can be read, for links; may be empty.
    `least_change`: moves smaller than this share are counted, not told. `send_quiet`: whether a week in which nothing
    happened is told, too. `region`: AWS region of SES; by default as boto3 finds it.
    """

    sender: str
    to: tuple[str, ...]
    reply_to: str = ""
    through: str = "smtp"
    host: str = ""
    port: int = 587
    tls: str = "starttls"
    user: str = ""
    password: str = ""
    region: str = ""
    site_url: str = ""
    least_change: float = 0.01
    send_quiet: bool = True
    timeout_seconds: float = 30.0


KNOWN = (
    "from", "to", "reply_to", "through", "host", "port", "tls", "user", "region", "site_url", "least_change_percent",
    "send_quiet", "timeout_seconds",
)  # fmt: skip


def check_names(table: object) -> Mapping[str, Any]:
    """Return the table as it is; raise SettingsError where it is none, or has a name that means nothing."""
    if not isinstance(table, Mapping):
        raise SettingsError("must be a table", field="mail", value=table, hint="Write [mail]")
    for name, value in table.items():
        if name == "password":
            raise SettingsError("a password does not belong into a file", field="mail.password", hint=f"Set {PASSWORD}")
        if name not in KNOWN:
            raise SettingsError(
                "unknown setting", field=f"mail.{name}", value=value, hint=f"Known: {', '.join(sorted(KNOWN))}"
            )
    return table


def read(table: Mapping[str, Any], environ: Mapping[str, str]) -> MailSettings:
    """Return the checked settings. Raises SettingsError, which names what is missing or wrong, and what is allowed."""
    check_names(table)
    tls = _one_of(table, "tls", tuple(PORTS))
    through = _one_of(table, "through", THROUGH)
    host, user = _text(table, "host"), _text(table, "user")
    password = environ.get(PASSWORD, "")
    if through == "smtp":
        if not host:
            raise SettingsError("must be given", field="mail.host", hint="The name of the server that takes mail")
        if user and not password:
            raise SettingsError("a user without a password", field="mail.user", value=user, hint=f"Set {PASSWORD}")
        if user and tls == "none" and host not in LOOPBACK:
            raise SettingsError(
                "a password would travel unprotected", field="mail.tls", value=tls, hint="Allowed: starttls, implicit"
            )
    to = table.get("to")
    if not isinstance(to, list) or not to:
        raise SettingsError("must be a list of addresses", field="mail.to", value=to)
    site_url = _text(table, "site_url")
    if site_url and not site_url.startswith(("https://", "http://")):
        raise SettingsError("no web address", field="mail.site_url", value=site_url, hint="https://...")
    send_quiet = table.get("send_quiet", True)
    if not isinstance(send_quiet, bool):
        raise SettingsError("wrong setting", field="mail.send_quiet", value=send_quiet, hint="Allowed: true or false")
    addresses = {each.lower(): each for each in (address("to", item) for item in to)}
    return MailSettings(
        sender=address("from", table.get("from")),
        to=tuple(addresses.values()),
        reply_to=address("reply_to", table.get("reply_to")),
        through=through,
        host=host,
        port=int(_number(table, "port", PORTS[tls], least=1, most=65535)),
        tls=tls,
        user=user,
        password=password,
        region=_text(table, "region"),
        site_url=site_url.rstrip("/"),
        least_change=_number(table, "least_change_percent", 1, least=0, most=100) / 100,
        send_quiet=send_quiet,
        timeout_seconds=_number(table, "timeout_seconds", 30, least=1, most=600),
    )


def address(name: str, value: object) -> str:
    """Return a plain ASCII address, name@domain; nothing that could become a second header or recipient passes."""
    hint = "A plain address, such as prices@example.com"
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or len(value) > LONGEST_ADDRESS:
        raise SettingsError("no address", field=f"mail.{name}", value=value, hint=hint)
    try:
        parsed = Address(addr_spec=value)
    except (ValueError, IndexError) as error:
        raise SettingsError("no address", field=f"mail.{name}", value=value, hint=hint) from error
    if parsed.addr_spec != value or not parsed.username or ("." not in parsed.domain and parsed.domain != "localhost"):
        raise SettingsError("no address", field=f"mail.{name}", value=value, hint=hint)
    return value


def _one_of(table: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    value = table.get(name, allowed[0])
    if value not in allowed:
        raise SettingsError("wrong setting", field=f"mail.{name}", value=value, hint=f"Allowed: {', '.join(allowed)}")
    return str(value)


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name, "")
    if not isinstance(value, str) or not value.isprintable():
        raise SettingsError("must be text", field=f"mail.{name}", value=value)
    return value


def _number(table: Mapping[str, Any], name: str, default: float, *, least: float, most: float) -> float:
    value = table.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise SettingsError(
            "out of range", field=f"mail.{name}", value=value, hint=f"Allowed: {least:g} to {most:g}"
        )  # fmt: skip
    return float(value)
