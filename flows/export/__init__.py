"""Exports of the published file."""
