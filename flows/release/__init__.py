"""Immutable releases of what may be published again, and the way from a published figure back to bytes."""
