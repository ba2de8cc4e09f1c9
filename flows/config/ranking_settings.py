"""The table [ranking] of the settings: up to which age a price is ranked."""

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Whole


class RankingSettings(BaseModel):
    """Up to which age, counted from the file's own date, a price may be ranked and called cheapest.

    `max_age_days`: of all providers but marketplaces. `marketplace_max_age_days`: of marketplaces, whose prices move
    by the hour.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_age_days: Whole = Field(
        default=90, ge=1, le=36500, description="prices older than this are shown with their date and never ranked"
    )
    marketplace_max_age_days: Whole = Field(default=30, ge=1, le=36500, description="the same, for marketplaces")


def of(settings: Settings) -> RankingSettings:
    """Return the table, or its defaults. Raises SettingsError."""
    return table.checked(RankingSettings, settings.ranking, name="ranking")
