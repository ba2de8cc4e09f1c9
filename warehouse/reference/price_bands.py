"""The range of each chip's price per chip-hour: `data/price_band.csv`, which `tools/price_bands.py` makes.

Its columns are those of ref.price_band: US dollars per chip-hour.
"""

from warehouse.reference.table import Model, Rule, fields_of_columns, reader, record
from warehouse.schema.tables import table_named

PriceBand = record(table_named("ref.price_band").columns)
MODEL = Model(
    file="price_band.csv",
    key="accelerator_name",
    fields=fields_of_columns(
        PriceBand._fields, ("accelerator_name", "purchase_option", "limit_low", "limit_high", "accessed_on")
    ),
    unique=("accelerator_name", "purchase_option"),
    repeated="a second row for the same chip and option",
    rules=(Rule("limit_low", "not below limit_high", "limit_low < limit_high"),),
)

read_table = reader(PriceBand, MODEL)
