"""The words of a verdict: how a claim may stand, on its date and today."""

CONSISTENT = "consistent"
STALE = "stale"
INCONSISTENT = "inconsistent"
IMPOSSIBLE = "physically_impossible"
UNVERIFIABLE = "unverifiable"
VERDICTS = (CONSISTENT, STALE, INCONSISTENT, IMPOSSIBLE, UNVERIFIABLE)
FAILED = (STALE, INCONSISTENT, IMPOSSIBLE)
"""Verdicts of an input upon which nothing green can rest."""
INPUT_FAILED = "arithmetic holds, input does not"
INPUT_OPEN = "arithmetic holds, input is unverified"
TRUE_THEN = "true then"
