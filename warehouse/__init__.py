"""The history: landed documents, the append-only price log, intervals, and the published DuckDB file."""

import os
import sys
from importlib.util import find_spec


class NoPandas:
    """Says at once that there is no pandas: DuckDB looks for it, along the whole path, with every bound value."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for pandas; leave any other module to the other finders."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not installed", name=name)


if find_spec("pandas") is None:
    sys.meta_path.insert(0, NoPandas)

# Polars is to give memory back as soon as it is free, and reads this as it is imported. Otherwise it keeps it until it
# asks for more, which after a load is never: 100 MB.
os.environ["_RJEM_MALLOC_CONF"] = "dirty_decay_ms:0"
