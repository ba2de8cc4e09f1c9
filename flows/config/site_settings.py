"""The table [site] of the settings: what the pages in the reports folder leave out."""

from pydantic import BaseModel, ConfigDict, Field

from flows.config import table
from flows.config.settings import Settings
from flows.config.types import Switch


class SiteSettings(BaseModel):
    """What the site shows.

    `claims`: whether the page of published claims and their verdicts is written. It judges what others wrote: a folder
    that is put on a public host may leave it out. `charts`: whether charts are drawn, which takes two seconds.
    `chips`: the chips of the front page in their order; the first six are in the last lines of a run, too.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claims: Switch = Field(default=True, description="write the page of published claims and their verdicts")
    chips: tuple[str, ...] = Field(
        default=(), max_length=12, description="chips of the front page, in their order; none: those of docs/reports.md"
    )
    charts: Switch = Field(default=True, description="draw charts, which takes two seconds")


def of(settings: Settings) -> SiteSettings:
    """Return the table, or its defaults. Raises SettingsError."""
    return table.checked(SiteSettings, settings.site, name="site")
