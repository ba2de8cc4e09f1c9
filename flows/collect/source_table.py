"""The table core.source of a published file: every source of prices, and how far it is believed."""

from collections.abc import Iterable
from datetime import timedelta

import duckdb

from extract.base import Source
from flows.collect.offline import ARCHIVES
from warehouse.publish.building import SourceRow

IMPORT_PRECEDENCE = 900
"""Behind every registered source."""


def source_rows(
    con: duckdb.DuckDBPyConnection, sources: Iterable[Source], *, archive_max_age: timedelta | None = None
) -> list[SourceRow]:
    """Return the rows of core.source: the registered sources, and one for each origin that was imported.

    The precedence of a source is its place among `sources`, from 1; imports come last.
    `archive_max_age`: how long prices of the archive count as current; None: never.
    """
    rows: list[SourceRow] = [
        (
            source.name,
            source.provider,
            source.title,
            source.kind,
            precedence,
            int(max_age.total_seconds() // 3600) if max_age else None,
            source.url,
        )
        for precedence, source in enumerate(sources, start=1)
        for max_age in [archive_max_age if source.name in ARCHIVES else source.max_age]
    ]
    imported = con.execute(
        "select distinct source from core.scope_run where source like 'import:%' order by source"
    ).fetchall()
    titles = {name: f"Imported observations of {name.removeprefix('import:')}" for (name,) in imported}
    rows += [(name, "several", title, "import", IMPORT_PRECEDENCE, None, "") for name, title in titles.items()]
    return rows
