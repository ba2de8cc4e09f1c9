"""A run: collect, ingest, publish, import."""
