"""Marts: one SELECT per file, created in order over the core tables."""
