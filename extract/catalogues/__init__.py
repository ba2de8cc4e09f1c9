"""Catalogues of many providers' prices: sources that are no provider's own."""

from extract.base import Source
from extract.catalogues import gpuhunt_, skypilot_catalog

SOURCES: tuple[Source, ...] = (skypilot_catalog.SOURCE, gpuhunt_.SOURCE)
