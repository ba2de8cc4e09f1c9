"""The columns of commitments and choices: name, DuckDB type, meaning and unit, for `warehouse.columns`."""

COMMITMENT = (
    (
        "on_demand_price_usd",
        "DOUBLE",
        "On-demand list price of the same machine in the same place",
        "USD per chip-hour",
    ),
    ("on_demand_last_observed_at", "TIMESTAMP", "When the on-demand price was last seen", "UTC"),
    ("on_demand_is_current", "BOOLEAN", "Whether the on-demand price is current", ""),
    ("on_demand_offer_id", "BIGINT", "Offer of the on-demand price", ""),
    # how list prices moved
    ("first_observed_at", "TIMESTAMP", "When an on-demand list price of the chip was first seen", "UTC"),
    ("offer_years", "DOUBLE", "Years for which offers were seen, summed over the offers", "offer-years"),
    ("n_moves", "BIGINT", "List changes of all offers, falls and rises", "moves"),
    ("n_falls", "BIGINT", "List changes that were falls", "moves"),
    ("n_move_days", "BIGINT", "Days on which any offer moved", "days"),
    (
        "yearly_drift",
        "DOUBLE",
        "Sum of the relative moves / offer_years; NULL: seen for less than a year",
        "share a year",
    ),
    ("deepest_fall", "DOUBLE", "Lowest relative move of the chip's list price; NULL: none fell", "share"),
    ("provider_deepest_fall", "DOUBLE", "Lowest relative move of any of the provider's chips", "share"),
)
