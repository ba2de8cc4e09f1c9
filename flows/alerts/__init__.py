"""Alerts after a daily run."""
