"""Prices of providers other than AWS: one module each, on the same few helpers.

`fetching` gets documents, `answers` reads JSON and `pages` reads HTML strictly, `offers` reads prices and makes the
rows. docs/adding-a-provider.md says how to add one.
"""

from importlib import import_module

from extract.base import Source
from extract.catalogues import gpuhunt_, skypilot_catalog

MODULES = """
spheron vultr scaleway verda lambda_ nebius coreweave crusoe hyperstack together ovh digitalocean voltagepark hyperbolic
massedcompute hotaisle lium shadeform runpod vast jarvislabs azure oracle google_cloud
"""
"""Every module of this folder with a source. Of two that price one offer the first wins: append a new one."""

SOURCES: tuple[Source, ...] = tuple(import_module(f"{__name__}.{name}").SOURCE for name in MODULES.split())
CATALOGUES: tuple[Source, ...] = (skypilot_catalog.SOURCE, gpuhunt_.SOURCE)
"""Sources that are no provider's own: what others collect of many of them."""
