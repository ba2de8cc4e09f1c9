"""Writing the static site of a data directory, as its settings have it."""

from pathlib import Path

from flows.settings import Settings

OF_ALL = "Charts, changes and gaps are of all regions."


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
    folder, shown_in = settings.data_dir / "reports", settings.reporting_currency
    if not settings.decision.get("regions"):
        return site.write(file, folder, local=local, draw=draw, shown_in=shown_in)
    from flows import allowed, decision_settings

    regions = decision_settings.read(settings).regions
    with allowed.opened(file, regions) as standing:
        told = [*allowed.words(allowed.told(regions, allowed.left_out(standing, regions))), OF_ALL]
        return site.write(
            file, folder, local=local, draw=draw, shown_in=shown_in, standing=standing, regions=" ".join(told)
        )
