"""Prices of providers other than AWS: one module each, on the same few helpers.

`fetching` gets documents, `answers` reads JSON and `pages` reads HTML strictly, `words` reads what stands where a price
should, `offers` makes the rows. docs/adding-a-provider.md says how to add one.
"""

from extract.base import Source
from extract.catalogues import gpuhunt_, skypilot_catalog
from extract.neoclouds import (
    coreweave,
    crusoe,
    digitalocean,
    hotaisle,
    hyperbolic,
    hyperstack,
    jarvislabs,
    lambda_,
    lium,
    massedcompute,
    nebius,
    ovh,
    runpod,
    scaleway,
    shadeform,
    spheron,
    together,
    vast,
    verda,
    voltagepark,
    vultr,
)

SOURCES: tuple[Source, ...] = (
    coreweave.SOURCE,
    crusoe.SOURCE,
    digitalocean.SOURCE,
    hotaisle.SOURCE,
    hyperbolic.SOURCE,
    hyperstack.SOURCE,
    jarvislabs.SOURCE,
    lambda_.SOURCE,
    lium.SOURCE,
    massedcompute.SOURCE,
    nebius.SOURCE,
    ovh.SOURCE,
    runpod.SOURCE,
    scaleway.SOURCE,
    shadeform.SOURCE,
    spheron.SOURCE,
    together.SOURCE,
    vast.SOURCE,
    verda.SOURCE,
    voltagepark.SOURCE,
    vultr.SOURCE,
)
"""Every source of this folder, one line each."""

CATALOGS: tuple[Source, ...] = (gpuhunt_.SOURCE, skypilot_catalog.SOURCE)
"""Sources of this folder that are no provider's own: what others gather of many of them."""
