"""Sources of AWS prices."""

SPOT = "aws_spot"
"""The name of the source, for the modules that fetch and parse it."""
