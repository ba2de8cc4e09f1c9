"""The table [private] of the settings: the files that say what a user pays and runs. None of it is published."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from flows import settings_table
from flows.settings import Settings


class PrivateSettings(BaseModel):
    """Where the private files lie.

    `prices`: negotiated discounts and contracted rates, a `.toml` or a `.csv`. `fleet`: what is run, a CSV. Paths are
    as seen from the folder where chipledger is started. `in_mail`: whether the weekly mail, which leaves this machine,
    may tell contracted amounts beside those at list.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prices: Path | None = None
    fleet: Path | None = None
    in_mail: bool = False


def read(settings: Settings) -> PrivateSettings:
    """Return the checked table. Raises SettingsError, which names what is wrong and what is allowed."""
    return settings_table.checked(PrivateSettings, settings.private, name="private")
