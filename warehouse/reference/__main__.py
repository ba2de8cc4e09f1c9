"""Check the reference tables of the package: `python -m warehouse.reference`, as `make references` does."""

import sys

from warehouse.reference import (
    accelerator_facts,
    accelerators,
    claims,
    instance_types,
    machine_facts,
    models,
    purchase_terms,
    throughput,
)
from warehouse.reference.table import DATA, read

MODELS = (
    accelerators.MODEL,
    accelerators.labels_of(accelerators.Vocabulary(accelerators.read_table())),
    accelerator_facts.MODEL,
    instance_types.MODEL,
    machine_facts.MODEL,
    models.MODEL,
    purchase_terms.MODEL,
    throughput.MODEL,
    claims.MODEL,
)
"""Of every table in `warehouse/data`."""


def main() -> None:
    """Check each table and print how many rows hold. Raises ChipledgerError for the first that does not."""
    for model in MODELS:
        sys.stdout.write(f"{model.file}: {len(read(DATA / model.file, model))} rows hold\n")


if __name__ == "__main__":
    main()
