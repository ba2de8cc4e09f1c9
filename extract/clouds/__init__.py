"""Prices of the big clouds beside AWS: one module each, on the helpers of extract.neoclouds."""

from extract.base import Source
from extract.clouds import azure, oracle

SOURCES: tuple[Source, ...] = (azure.SOURCE, oracle.SOURCE)
"""Every source of this folder, one line each."""
