"""The history: landed documents, the append-only price log, intervals, and the published DuckDB file."""

import os

from warehouse import frames as frames  # it hides from DuckDB what that would look for

# Polars is to give memory back as soon as it is free, and reads this as it is imported. Otherwise it keeps it until it
# asks for more, which after a load is never: 100 MB.
os.environ["_RJEM_MALLOC_CONF"] = "dirty_decay_ms:0"
