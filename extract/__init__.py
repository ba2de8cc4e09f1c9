"""Sources: each fetches documents from a provider and parses them into observations."""

from extract import aws_price_list, offline_archive
from extract.base import Source

SOURCES: tuple[Source, ...] = (
    aws_price_list.SOURCE,
    offline_archive.SOURCE,
)
"""Every source, one line each; a test walks the folder and fails where one is missing."""


def source_named(name: str) -> Source:
    """Return the source of that name. Raises KeyError where there is none."""
    return {source.name: source for source in SOURCES}[name]
