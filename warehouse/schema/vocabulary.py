"""Closed vocabularies of columns, as `columns.csv` declares them, and conventions of prices."""

from warehouse.schema.columns import allowed

PURCHASE_OPTIONS = allowed("purchase_option")
PAYMENT_MODELS = allowed("purchase_payment_model")
OFFERING_CLASSES = allowed("offering_class")
CAPACITY_UNITS = allowed("capacity_unit")
STATISTICS = allowed("statistic")
"""Of several offers; `floor` is a "from" price: the lowest that anybody pays, and not what everybody does."""
PRICING_UNITS = allowed("pricing_unit")
"""Times that a price may buy instead of an hour; sql/offer_unit.sql has the hours of each."""
RESTRICTIONS = allowed("restriction")
"""Prices that no new customer can have now: of existing customers only, or of a later date."""
UNIT_PRICE_TYPES = allowed("unit_price_type")
CURRENCIES = allowed("pricing_currency")
HOURS_PER_YEAR = 8760
"""AWS's own convention for spreading an upfront fee: 365 days, no leap day."""
HOURS_PER_MONTH = 730
"""A twelfth of it, in cost.monthly as in AWS's and Google's own calculators."""
MARKETPLACES = (
    *("akash", "lium", "prime intellect", "prime-intellect", "sesterce", "sf compute", "sfcompute", "spheron"),
    *("tensordock", "vast.ai"),
)
"""Providers, in small letters, whose prices are those of whoever rents out that day, or of the host behind an offer:
they have no price list that could change."""
