"""A warehouse that several machines share (DuckLake)."""
