"""Prices of providers other than AWS: one module each, on the same few helpers.

`fetching` gets documents, `answers` reads JSON and `pages` reads HTML strictly, `offers` reads prices and makes the
rows. docs/adding-a-provider.md says how to add one.
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
    spheron.SOURCE,
    vultr.SOURCE,
    scaleway.SOURCE,
    verda.SOURCE,
    lambda_.SOURCE,
    nebius.SOURCE,
    coreweave.SOURCE,
    crusoe.SOURCE,
    hyperstack.SOURCE,
    together.SOURCE,
    ovh.SOURCE,
    digitalocean.SOURCE,
    voltagepark.SOURCE,
    hyperbolic.SOURCE,
    massedcompute.SOURCE,
    hotaisle.SOURCE,
    lium.SOURCE,
    shadeform.SOURCE,
    runpod.SOURCE,
    vast.SOURCE,
    jarvislabs.SOURCE,
)
"""Every source of this folder, one line each. Of two that price one offer the upper one wins: append a new source."""

CATALOGUES: tuple[Source, ...] = (skypilot_catalog.SOURCE, gpuhunt_.SOURCE)
"""Sources that are no provider's own: what others collect of many of them."""
