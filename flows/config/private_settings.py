"""The table [private] of the settings: the files that say what a user pays and runs. None of it is published."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Switch


class PrivateSettings(BaseModel):
    """Where the private files lie.

    `prices`: negotiated discounts and contracted rates, a `.toml` or a `.csv`. `fleet`: what is run, a CSV. Paths are
    as seen from the folder where chipledger is started. `in_mail`: whether the weekly mail, which leaves this machine,
    may tell contracted amounts beside those at list.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prices: Path | None = Field(
        default=None, description="negotiated discounts and contracted rates, .toml or .csv", examples=["prices.toml"]
    )
    fleet: Path | None = Field(default=None, description="what is run, a CSV", examples=["fleet.csv"])
    in_mail: Switch = Field(
        default=False, description="whether the weekly mail may tell contracted amounts beside those at list"
    )


def read(settings: Settings) -> PrivateSettings:
    """Return the checked table. Raises SettingsError, which names what is wrong and what is allowed."""
    return table.checked(PrivateSettings, settings.private, name="private")
