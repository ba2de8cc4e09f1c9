"""Writing the static site of a data directory, as its settings have it."""

from pathlib import Path

from flows.settings import Settings


def write(settings: Settings, file: Path) -> Path:
    """Write all pages of a published file and return the path of the overview. Raises SettingsError."""
    from reports import site

    local = True
    if settings.site:
        # Pydantic costs a tenth of a second, which nobody pays without such a table.
        from flows import site_settings

        local = site_settings.of(settings).claims
    return site.write(file, settings.data_dir / "reports", local=local)
