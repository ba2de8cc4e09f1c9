"""Sources: each fetches documents from a provider and parses them into observations."""

from extract import ecb_rates, offline_archive, price_archive
from extract.aws import (
    capacity_block_rates,
    capacity_blocks,
    instance_types,
    price_list,
    price_pages,
    savings_plans,
    spot,
    spot_feed,
)
from extract.base import Source
from extract.neoclouds import CATALOGUES
from extract.neoclouds import SOURCES as NEOCLOUDS
from warehouse.errors import SettingsError, did_you_mean

_FIRST = (price_list, spot, capacity_blocks, savings_plans, capacity_block_rates, spot_feed, price_pages)
SOURCES: tuple[Source, ...] = (
    *(module.SOURCE for module in (*_FIRST, offline_archive, price_archive, instance_types, ecb_rates)),
    *NEOCLOUDS,
    *CATALOGUES,
)
"""Every source, in the order of precedence: of two that price one offer, the one further up wins."""


def source_named(name: str) -> Source:
    """Return the source of that name. Raises SettingsError where there is none."""
    named = {source.name: source for source in SOURCES}
    if name not in named:
        hint = did_you_mean(name, named, "`chipledger sources` lists all")
        raise SettingsError("unknown source", field="source", value=name, hint=hint)
    return named[name]
