"""The table [alerts] of the settings: what the daily run tells at once, and from how much on.

Addresses of chat services carry their secrets, so that they stand in an environment variable alone.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from flows.config import mail_settings, table
from flows.config.mail_settings import MailSettings
from flows.config.settings import Settings
from flows.config.types import Number
from warehouse.errors import SettingsError

URLS = "CHIPLEDGER_ALERT_URLS"
"""Addresses as Apprise reads them, such as slack://... or json://..., separated by blanks or line ends."""
Kind = Literal["move", "chip", "stale", "claim"]
KINDS: tuple[Kind, ...] = ("move", "chip", "stale", "claim")


class AlertSettings(BaseModel):
    """What is told, and to whom.

    `change_percent`: list prices that moved by so much or more. `stale_days`: live sources without a good look for so
    many days. `kinds`: which kinds of alert. `chips`, `regions`: those of which moves are told. `to`: mail addresses;
    server and sender are those of [mail].
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    change_percent: Number = Field(
        default=5.0, gt=0, le=1000, description="list prices that moved by so much or more are told"
    )
    stale_days: Number = Field(
        default=3.0, ge=0.5, le=365, description="live sources without a good look for so long are told"
    )
    kinds: tuple[Kind, ...] = Field(default=KINDS, description="which kinds of alert")
    chips: tuple[str, ...] = Field(default=(), description="chips whose moves are told; empty: all, unknown ones too")
    regions: tuple[str, ...] = Field(default=(), description="regions whose moves are told; empty: all")
    to: tuple[str, ...] = Field(default=(), description="mail addresses; server and sender are those of [mail]")

    @field_validator("to")
    @classmethod
    def _plain(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what is no plain address; one that is given twice counts once."""
        try:
            found = {address.lower(): address for address in (mail_settings.address("to", each) for each in value)}
        except SettingsError as error:
            raise ValueError(f"{error.value!r} is no plain address, such as someone@example.com") from error
        return tuple(found.values())

    @field_validator("chips")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a name that no chip has: nothing would ever be told of it."""
        if not value:
            return value
        from warehouse.reference import accelerators

        known = accelerators.names()
        for name in value:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                raise ValueError(f"{f'{near[0]}, or ' if near else ''}another name that `chipledger chips` lists")
        return value

    def watches(self, move: Mapping[str, Any]) -> bool:
        """Return whether the move of a price is to be told; one of an unknown chip or region only where all are."""
        of_chip = not self.chips or move["accelerator_name"] in self.chips
        return of_chip and (not self.regions or move["region_id"] in self.regions)


def read(settings: Settings) -> AlertSettings:
    """Return the checked table. Raises SettingsError that names what is wrong."""
    return table.checked(AlertSettings, settings.alerts, name="alerts")


def mail_of(settings: Settings, environ: Mapping[str, str]) -> MailSettings:
    """Return the settings of mail that alerts go by. Raises SettingsError where [mail] is missing or wrong."""
    if not settings.mail:
        raise SettingsError(
            "addresses for alerts, but no mail",
            field="alerts.to",
            hint="Server and sender stand in [mail]: docs/mail.md",
        )
    # Who gets the week's mail is another matter: [mail] may have no recipients of its own.
    return mail_settings.read({"to": list(read(settings).to), **settings.mail}, environ)


def urls(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the addresses of chat services in the environment."""
    return tuple(dict.fromkeys(environ.get(URLS, "").split()))
