"""Sources: each fetches documents from a provider and parses them into observations."""

from extract import (
    aws_capacity_block_rates,
    aws_capacity_blocks,
    aws_instance_types,
    aws_price_list,
    aws_savings_plans,
    aws_spot,
    aws_spot_feed,
    ecb_rates,
    offline_archive,
    price_archive,
)
from extract.base import Source
from extract.neoclouds import CATALOGS
from extract.neoclouds import SOURCES as NEOCLOUDS

SOURCES: tuple[Source, ...] = (
    aws_price_list.SOURCE,
    aws_savings_plans.SOURCE,
    aws_spot.SOURCE,
    aws_spot_feed.SOURCE,
    aws_capacity_blocks.SOURCE,
    aws_capacity_block_rates.SOURCE,
    aws_instance_types.SOURCE,
    ecb_rates.SOURCE,
    offline_archive.SOURCE,
    price_archive.SOURCE,
    *NEOCLOUDS,
    *CATALOGS,
)
"""Every source, one line each; a test walks the folder and fails where one is missing."""


def source_named(name: str) -> Source:
    """Return the source of that name. Raises KeyError where there is none."""
    return {source.name: source for source in SOURCES}[name]
