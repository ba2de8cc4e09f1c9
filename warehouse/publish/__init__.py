"""The published file, built from the log."""
