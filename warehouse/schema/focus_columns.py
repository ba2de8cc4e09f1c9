"""Columns of FOCUS SkuPrice, in FOCUS's own spelling: name, type, meaning and unit."""

# fmt: off
FOCUS = (
    ("ServiceProviderName", "VARCHAR", "FOCUS: who sells the service"),
    ("SkuId", "VARCHAR", "FOCUS: the provider's product code; NULL where not stated"),
    ("SkuPriceId", "VARCHAR", "FOCUS: the provider's code of this price, or chipledger:<offer_id> where it states none"),
    ("ContractId", "VARCHAR", "FOCUS 1.5 draft: the contract of a contracted price"),
    ("ChargeCategory", "VARCHAR", "FOCUS: Usage for what recurs, Purchase for what is paid once"),
    ("PricingCategory", "VARCHAR", "FOCUS: Standard, Committed or Dynamic"),
    ("CommitmentDiscountType", "VARCHAR", "FOCUS: the provider's kind of commitment"),
    ("PurchaseDurationType", "VARCHAR", "FOCUS 1.5 draft: length of the commitment"),
    ("PurchasePaymentModel", "VARCHAR", "FOCUS 1.5 draft: No, Partial or All Upfront"),
    ("PricingRegionId", "VARCHAR", "FOCUS 1.5 draft: region that the price is for"),
    ("AvailabilityZone", "VARCHAR", "FOCUS: zone that the price is for; NULL where it is regional"),
    ("PricingUnit", "VARCHAR", "FOCUS: what one UnitPrice buys"),
    ("PricingCurrency", "VARCHAR", "FOCUS: ISO 4217 code of UnitPrice"),
    ("UnitPrice", "DECIMAL(18,10)", "FOCUS 1.5 draft: price of one PricingUnit", "PricingCurrency"),
    ("UnitPriceType", "VARCHAR", "FOCUS 1.5 draft: List or Contracted"),
    ("SkuPriceEffectiveStart", "TIMESTAMP", "FOCUS 1.5 draft: first moment at which the price was seen", "UTC"),
    ("SkuPriceEffectiveEnd", "TIMESTAMP", "FOCUS 1.5 draft: first moment at which it was seen no more; NULL while it holds", "UTC"),
    ("x_PurchaseOption", "VARCHAR", "purchase_option: on_demand, reserved, savings_plan, spot, capacity_block"),
    ("x_OfferingClass", "VARCHAR", "Reserved offering class"),
    ("x_InstanceType", "VARCHAR", "The provider's name of the machine"),
    ("x_AcceleratorName", "VARCHAR", "Chip"),
    ("x_AcceleratorCount", "DECIMAL(10,4)", "Chips in one unit", "chips"),
    ("x_Source", "VARCHAR", "Source that first showed the price"),
    ("x_LastObservedAt", "TIMESTAMP", "Last moment at which a source confirmed it", "UTC"),
    ("x_DocumentSha256", "VARCHAR", "Document that first showed it"),
)
# fmt: on
