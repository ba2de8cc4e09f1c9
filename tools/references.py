"""Check the reference tables of the package: `python tools/references.py`, as `make references` does."""

import sys

from warehouse.reference import (
    accelerator_facts,
    accelerators,
    claims,
    cloud_machines,
    instance_types,
    models,
    prepared,
    price_bands,
    source_terms,
    throughput,
)
from warehouse.reference.table import DATA

MODELS = (
    accelerators.MODEL,
    accelerators.labels_of(accelerators.Vocabulary(accelerators.read_table())),
    instance_types.MACHINE_FACTS,
    prepared.PURCHASE_TERMS,
    prepared.REGIONS,
    prepared.TRUTH_RULES,
    *(
        each.MODEL
        for each in (
            accelerator_facts,
            cloud_machines,
            instance_types,
            models,
            price_bands,
            source_terms,
            throughput,
            claims,
        )
    ),
)
"""Of every table in `warehouse/data`."""

if __name__ == "__main__":
    for model in MODELS:
        sys.stdout.write(f"{model.file}: {len(model.read(DATA / model.file))} rows hold\n")
