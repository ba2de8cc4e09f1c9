"""Sources of AWS prices."""

SPOT = "aws_spot"
CAPACITY_BLOCKS = "aws_capacity_blocks"
"""Names of sources whose modules import nothing that is slow."""
