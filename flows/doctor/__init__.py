"""Checks of `chipledger doctor`."""
