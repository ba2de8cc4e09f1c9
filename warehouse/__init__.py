"""The history: landed documents, the append-only price log, intervals, and the published DuckDB file."""
