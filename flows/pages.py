"""Writing the static site of a data directory, as its settings have it."""

from pathlib import Path

from flows.settings import Settings


def write(settings: Settings, file: Path, *, draw: bool | None = None) -> Path:
    """Write all pages of a published file and return the path of the overview. Raises SettingsError.

    `draw` says whether charts are drawn; None: where a price is current, which none of the archive is.
    """
    from reports import site

    local = True
    if settings.site:
        # Pydantic costs a tenth of a second, which nobody pays without such a table.
        from flows import site_settings

        chosen = site_settings.of(settings)
        local, draw = chosen.claims, draw if chosen.charts else False
    return site.write(file, settings.data_dir / "reports", local=local, draw=draw, shown_in=settings.reporting_currency)
