"""Sources: each fetches documents from a provider and parses them into observations."""

from extract import ecb_rates, offline_archive, price_archive
from extract.aws import (
    capacity_block_rates,
    capacity_blocks,
    instance_types,
    price_list,
    savings_plans,
    spot,
    spot_feed,
)
from extract.base import Source
from extract.neoclouds import CATALOGUES
from extract.neoclouds import SOURCES as NEOCLOUDS

SOURCES: tuple[Source, ...] = (
    price_list.SOURCE,
    spot.SOURCE,
    capacity_blocks.SOURCE,
    savings_plans.SOURCE,
    capacity_block_rates.SOURCE,
    spot_feed.SOURCE,
    offline_archive.SOURCE,
    price_archive.SOURCE,
    instance_types.SOURCE,
    ecb_rates.SOURCE,
    *NEOCLOUDS,
    *CATALOGUES,
)
"""Every source, one line each, in the order of precedence: of two that price one offer, the one further up wins."""


def source_named(name: str) -> Source:
    """Return the source of that name. Raises KeyError where there is none."""
    return {source.name: source for source in SOURCES}[name]
