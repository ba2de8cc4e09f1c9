"""The columns of the private file that the published one lacks: type, meaning and unit of each.

What stands in `warehouse.schema.columns` too means the same here, but for the names below: they come first.
"""

from warehouse.schema.columns import Column

# fmt: off
_COLUMNS = (
    Column("built_at", "TIMESTAMP", "When this file was built", "UTC"),
    Column("prices_built_at", "TIMESTAMP", "When the published file that it was built from was built", "UTC"),
    Column("version", "VARCHAR", "Version of chipledger"),
    Column("prices_sha256", "VARCHAR", "SHA-256 of the price file, whose bytes are kept in the landing folder; NULL: there is none"),
    Column("fleet_sha256", "VARCHAR", "SHA-256 of the fleet file, whose bytes are kept in the landing folder; NULL: there is none"),
    # the fleet
    Column("line_number", "BIGINT", "Line of the fleet file, its header being line 1"),
    Column("label", "VARCHAR", "What the user calls it"),
    Column("offer", "VARCHAR", "Machine or chip, in the user's words"),
    Column("accelerators_per_node", "DECIMAL(10,4)", "Chips of one node: as the line says, else of the offer", "chips"),
    Column("nodes", "DECIMAL(18,10)", "Nodes of the line", "nodes"),
    Column("share_of_use", "DOUBLE", "Share of the hours in which a node runs, of a commitment in which it is used", "share"),
    Column("paid_hours_per_month", "DOUBLE", "730 x share_of_use on demand and for spot; 730 for a commitment, which is paid whether used or not", "hours per node"),
    Column("commitment_ends_on", "DATE", "Last day of the commitment; NULL where none is stated"),
    Column("units_per_node", "DOUBLE", "Capacity units of the offer that one node takes: 1, or the chips of a node where single chips are sold", "units"),
    Column("on_demand_offer_id", "BIGINT", "The same machine in the same place on demand, for a commitment; NULL where not exactly one is known"),
    Column("reason", "VARCHAR", "Why there is no list price; NULL where there is one"),
    Column("billed_list_cost", "DECIMAL(18,10)", "ListCost of the imported export of costs; no price here is computed from it", "billed_currency"),
    Column("billed_contracted_cost", "DECIMAL(18,10)", "ContractedCost of the imported export of costs; no price here is computed from it", "billed_currency"),
    Column("billed_effective_cost", "DECIMAL(18,10)", "EffectiveCost of the imported export of costs; no price here is computed from it", "billed_currency"),
    Column("billed_currency", "VARCHAR", "BillingCurrency of the imported export of costs"),
    Column("billed_hours", "DECIMAL(18,10)", "Machine-hours of the imported export of costs", "hours"),
    # prices
    Column("list_price_per_node_hour", "DOUBLE", "List price of one node, an upfront fee spread over the term; of a commitment that of one bought now, whatever was agreed when it began; NULL: unknown", "USD per hour"),
    Column("contracted_price_per_node_hour", "DOUBLE", "Contracted price of one node; NULL: no rule is for it", "USD per hour"),
    Column("list_usd_per_month", "DOUBLE", "list_price_per_node_hour x nodes x paid_hours_per_month; a commitment is paid whether used or not", "USD"),
    Column("contracted_usd_per_month", "DOUBLE", "contracted_price_per_node_hour x nodes x paid_hours_per_month; a commitment is paid whether used or not", "USD"),
    Column("list_idle_usd_per_month", "DOUBLE", "Part of list_usd_per_month that is paid for unused hours of a commitment; NULL: none", "USD"),
    Column("contracted_idle_usd_per_month", "DOUBLE", "Part of contracted_usd_per_month that is paid for unused hours of a commitment; NULL: none", "USD"),
    Column("list_unit_price", "DECIMAL(18,10)", "List price of one capacity unit, as published", "pricing currency per hour, or per pricing_unit"),
    Column("list_upfront_price", "DECIMAL(18,10)", "Upfront fee, as published", "pricing currency"),
    Column("list_usd_per_hour", "DOUBLE", "List price of one capacity unit, an upfront fee spread over the term", "USD per hour"),
    Column("contracted_unit_price", "DECIMAL(18,10)", "By a discount: list_unit_price x (1 - discount), in its currency and unit; a contracted rate: USD per hour", "see meaning"),
    Column("contracted_upfront_price", "DECIMAL(18,10)", "list_upfront_price x (1 - discount); NULL for a contracted rate, which has all in it", "pricing currency"),
    Column("contracted_usd_per_hour", "DOUBLE", "Contracted price of one capacity unit, all included", "USD per hour"),
    Column("contract_id", "VARCHAR", "The contract that the rule names"),
    Column("discount", "DECIMAL(9,8)", "Part taken off the list price; NULL for a contracted rate", "share"),
    Column("rule", "VARCHAR", "Name of the rule of the price file that says so; NULL: no rule is for it"),
    Column("kind", "VARCHAR", "discount or rate"),
    Column("service", "VARCHAR", "EC2 or SageMaker; NULL: either"),
    Column("family", "VARCHAR", "AWS instance family, such as p5; NULL: any"),
    Column("usd_per_hour", "DECIMAL(18,10)", "Contracted rate of one machine", "USD per hour"),
    Column("usd_per_chip_hour", "DECIMAL(18,10)", "Contracted rate of one chip", "USD per chip-hour"),
    Column("place", "VARCHAR", "Where the rule stands in the price file"),
    Column("valid_from", "DATE", "First day on which the rule holds"),
    Column("valid_to", "DATE", "Last day on which the rule holds; NULL: no end is agreed"),
    # moves and renewals
    Column("move_of", "VARCHAR", "line: the line's own offer; on_demand: the same machine without the commitment. Never summed together"),
    Column("paid_from", "DATE", "Day on which the move can reach the line: at once, or at the end of a commitment; NULL: that end is not stated"),
    Column("list_price_before", "DOUBLE", "List price of one node before the move; NULL: not offered", "USD per hour"),
    Column("list_price_after", "DOUBLE", "List price of one node after the move; NULL: not offered", "USD per hour"),
    Column("usd_per_month_before", "DOUBLE", "list_price_before x nodes x hours paid a month", "USD"),
    Column("usd_per_month_after", "DOUBLE", "list_price_after x nodes x hours paid a month", "USD"),
    Column("usd_per_month_change", "DOUBLE", "usd_per_month_after - usd_per_month_before; NULL where either is", "USD"),
    Column("days_left", "BIGINT", "Days from the building of the file to commitment_ends_on; below 0: it is over", "days"),
    Column("list_usd_left", "DOUBLE", "list_price_per_node_hour x nodes x 24 x days_left; 0 once it is over", "USD"),
    Column("contracted_usd_left", "DOUBLE", "contracted_price_per_node_hour x nodes x 24 x days_left; 0 once it is over", "USD"),
    Column("on_demand_usd_per_month", "DOUBLE", "What the same machines would cost on demand at list, at the line's share of use; NULL: unknown", "USD"),
)
# fmt: on

PRIVATE_COLUMNS: dict[str, Column] = {column.name: column for column in _COLUMNS}
