"""Sources of AWS prices."""
