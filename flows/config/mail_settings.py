"""The table [mail] of the settings: to whom the weekly mail goes, from whom, and through what.

The password stands in an environment variable alone; a file with one is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.headerregistry import Address
from typing import Any

from flows.config import table as settings_table
from reports.weekly import pages
from warehouse.errors import SettingsError

PASSWORD = "CHIPLEDGER_MAIL_PASSWORD"  # noqa: S105 (the name of a variable)
PORTS = {"starttls": 587, "implicit": 465, "none": 25}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_ADDRESS = 254
"""RFC 5321, 4.5.3.1.3, without the brackets."""


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """Where the weekly mail goes, and how.

    `sender`, `to`, `reply_to`: plain addresses; every one of `to` has a message of its own. `through`: smtp or ses.
    `tls`: starttls, implicit, or none. `site_url`: where the reports folder can be read, for links; may be empty.
    `send_quiet`: whether a week in which nothing happened is mailed, too. `region`: AWS region of SES; by default as
    boto3 finds it.
    """

    sender: str
    to: tuple[str, ...]
    reply_to: str = ""
    through: str = "smtp"
    host: str = ""
    port: int = 587
    tls: str = "starttls"
    user: str = ""
    password: str = field(default="", repr=False)
    region: str = ""
    site_url: str = ""
    send_quiet: bool = True
    timeout_seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a reader wants to see of a week: the chips, and the share from which a move of them is shown."""

    chips: tuple[str, ...] = pages.CHIPS
    least: float = pages.LEAST_CHANGE


def wanted(table: Mapping[str, Any]) -> Wanted:
    """Return what the reader wants to see, whether or not mail is set up. Raises SettingsError."""
    if not table:
        return Wanted()
    from flows.config.mail_table import MailTable

    chosen = settings_table.checked(MailTable, {k: v for k, v in table.items() if k != "password"}, name="mail")
    return Wanted(chips=chosen.chips, least=chosen.least_change_percent / 100)


def read(table: Mapping[str, Any], environ: Mapping[str, str]) -> MailSettings:
    """Return the checked settings. Raises SettingsError, which names what is missing or wrong, and what is allowed."""
    from flows.config.mail_table import MailTable

    if "password" in table:
        raise SettingsError("a password does not belong into a file", field="mail.password", hint=f"Set {PASSWORD}")
    chosen, password = settings_table.checked(MailTable, table, name="mail"), environ.get(PASSWORD, "")
    missing = {
        "from": not chosen.sender,
        "to": not chosen.to,
        "reply_to": not chosen.reply_to,
        "host": chosen.through == "smtp" and not chosen.host,
    }
    for name in (name for name, is_missing in missing.items() if is_missing):
        raise SettingsError("must be given", field=f"mail.{name}", value=table.get(name), hint="docs/mail.md")
    if chosen.through == "smtp" and chosen.user and not password:
        raise SettingsError("a user without a password", field="mail.user", value=chosen.user, hint=f"Set {PASSWORD}")
    return MailSettings(
        sender=chosen.sender or "",
        to=chosen.to,
        reply_to=chosen.reply_to or "",
        through=chosen.through,
        host=chosen.host,
        port=chosen.port or PORTS[chosen.tls],
        tls=chosen.tls,
        user=chosen.user,
        password=password,
        region=chosen.region,
        site_url=chosen.site_url.rstrip("/"),
        send_quiet=chosen.send_quiet,
        timeout_seconds=chosen.timeout_seconds,
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
