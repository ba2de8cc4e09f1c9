"""The append-only price log: gates, events, quarantine."""
