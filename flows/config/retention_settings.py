"""The table [retention] of the settings: what becomes of old pages and files."""

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Whole


class RetentionSettings(BaseModel):
    """After how many days what is done; 0 means never.

    `daily_pages_days`: pages of single days are removed. `replaced_days`: files that a rebuild or a restore replaced
    are removed. Documents are never deleted; `compact_after_days` is deprecated and has no effect.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    compact_after_days: Whole = Field(
        default=0, ge=0, le=36500, description="deprecated, without effect: each document has a file of its own"
    )
    daily_pages_days: Whole = Field(
        default=400, ge=0, le=36500, description="after so many days pages of single days are removed; 0: never"
    )
    replaced_days: Whole = Field(
        default=30,
        ge=0,
        le=36500,
        description="after so many days files that a rebuild or a restore replaced are removed; 0: never",
    )


def of(settings: Settings) -> RetentionSettings:
    """Return the table, or its defaults. Raises SettingsError."""
    return table.checked(RetentionSettings, settings.retention, name="retention")
