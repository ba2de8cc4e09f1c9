"""Charts and sparklines."""
