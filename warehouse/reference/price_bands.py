"""The range of each chip's price per chip-hour: `data/price_band.csv`, which `tools/price_bands.py` makes."""

from datetime import date
from decimal import Decimal
from typing import NamedTuple

from warehouse.reference.table import Model, Rule, fields_of, reader


class PriceBand(NamedTuple):
    """The range of a chip's price per chip-hour in US dollars, in the order of the columns of `ref.price_band`."""

    accelerator_name: str
    purchase_option: str
    limit_low: Decimal
    limit_high: Decimal
    median_price: Decimal | None
    n_prices: int | None
    n_providers: int | None
    first_observed_on: date | None
    last_observed_on: date | None
    source_url: str | None
    accessed_on: date


MODEL = Model(
    file="price_band.csv",
    key="accelerator_name",
    fields=fields_of(PriceBand),
    unique=("accelerator_name", "purchase_option"),
    repeated="a second row for the same chip and option",
    rules=(Rule("limit_low", "not below limit_high", "limit_low < limit_high"),),
)

read_table = reader(PriceBand, MODEL)
