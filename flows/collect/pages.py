"""Writing the static site of a data directory, as its settings have it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flows.config.settings import Settings

if TYPE_CHECKING:
    from flows.collect.summary import Summary

OF_ALL = "Charts, changes and gaps are of all regions."


def write(settings: Settings, file: Path, *, draw: bool | None = None) -> Path:
    """Write all pages of a published file and return the path of the overview. Raises SettingsError.

    `draw` says whether charts are drawn; None: where a price is current, which none of the archive is.
    """
    from reports.pages import site

    local, shown = True, chips(settings)
    if settings.site:
        # Pydantic costs a tenth of a second, which nobody pays without such a table.
        from flows.config import site_settings

        chosen = site_settings.of(settings)
        local, draw = chosen.claims, draw if chosen.charts else False
    folder, shown_in = settings.data_dir / "reports", settings.reporting_currency
    if not settings.decision.get("regions"):
        return site.write(file, folder, local=local, draw=draw, shown_in=shown_in, chips=shown)
    from flows.config import decision_settings
    from flows.decisions import regions as allowed

    regions = decision_settings.read(settings).regions
    with allowed.opened(file, regions) as standing:
        told = [*allowed.lines(allowed.as_dict(regions, allowed.left_out(standing, regions))), OF_ALL]
        return site.write(
            file,
            folder,
            local=local,
            draw=draw,
            shown_in=shown_in,
            chips=shown,
            standing=standing,
            regions=" ".join(told),
        )


def chips(settings: Settings) -> tuple[str, ...]:
    """Return the chips of the front page as the settings have them; empty: the usual ones. Raises SettingsError."""
    if not settings.site.get("chips"):
        return ()
    from flows.config import site_settings

    return site_settings.of(settings).chips


def noted(settings: Settings, summary: "Summary", *, clock: Callable[[], datetime]) -> Path:
    """Write the week, which the pages list, and all pages of a summary's file; return the front page's path.

    The summary learns what failed. Raises ValueError where nothing was published.
    """
    from flows.mail import weekly_steps
    from reports.pages import guard

    if summary.file is None:
        raise ValueError("nothing was published")
    summary.week_faults = weekly_steps.after_run(settings, summary.file, clock=clock)
    with guard.noted() as faults:
        summary.report = page = write(settings, summary.file)
    summary.page_faults, summary.chips = tuple(faults), chips(settings)
    return page
