"""Columns of the front page and the drift report: name, DuckDB type, meaning, unit, for `warehouse.columns`."""

# ruff: noqa: E501 (one column a line reads as a table)

# fmt: off
FRONT: tuple[tuple[str, ...], ...] = (
    ("cell", "VARCHAR", "Which price of a chip's line: aws_on_demand, aws_1y, aws_3y, aws_block, aws_spot, elsewhere, elsewhere_median"),
    ("n_places", "BIGINT", "Of spot the zones or regions with a price, of elsewhere_median the providers"),
    ("is_by_zone", "BOOLEAN", "Whether n_places are zones; false: regions; NULL outside spot"),
    ("highest_offer_id", "BIGINT", "The offer of highest_price_usd"),
    ("aws_on_demand_usd", "DOUBLE", "AWS on demand, of one machine", "USD per chip-hour"),
    ("aws_1y_usd", "DOUBLE", "AWS's lowest one-year commitment for the same machine, upfront fee spread over the term", "USD per chip-hour"),
    ("aws_3y_usd", "DOUBLE", "AWS's lowest three-year commitment for the same machine, upfront fee spread over the term", "USD per chip-hour"),
    ("aws_block_usd", "DOUBLE", "AWS Capacity Block of the same machine", "USD per chip-hour"),
    ("aws_spot_lowest_usd", "DOUBLE", "AWS spot of the same machine in its lowest zone of the United States", "USD per chip-hour"),
    ("aws_spot_highest_usd", "DOUBLE", "AWS spot of the same machine in its highest zone of the United States", "USD per chip-hour"),
    ("n_spot_places", "BIGINT", "Zones, or regions, with a spot price", "zones"),
    ("elsewhere_usd", "DOUBLE", "Lowest on-demand price of any other provider", "USD per chip-hour"),
    ("elsewhere_provider_name", "VARCHAR", "Whose price elsewhere_usd is"),
    ("elsewhere_median_usd", "DOUBLE", "Median of the other providers' lowest on-demand prices", "USD per chip-hour"),
    ("drift_90d", "DOUBLE", "Like-for-like change of 90 days over all providers on demand, minus 1", "ratio"),
    ("bill_machines", "INTEGER", "Machines of the bill", "machines"),
    ("use_share", "DOUBLE", "Share of the hours of a year in which they run", "share"),
    ("on_demand_year_usd", "DOUBLE", "The bill on demand at that use", "USD per year"),
    ("plan_saving_usd", "DOUBLE", "The bill on demand less that of the plan; below 0 the plan costs more", "USD per year"),
    ("plan_pays_until_fall", "DOUBLE", "Fall of on demand over the whole year from which the plan costs more", "share"),
    ("plan_pays_from_use", "DOUBLE", "Share of hours from which the plan costs less than on demand", "share"),
    ("elsewhere_saving", "DOUBLE", "1 - elsewhere / AWS on demand", "share"),
    ("plan_offer_id", "BIGINT", "The offer of the plan"),
    ("elsewhere_offer_id", "BIGINT", "The offer elsewhere"),
    ("n_rises", "BIGINT", "Rises of them", "changes"),
    ("size_rank", "BIGINT", "1: the largest move of all providers"),
    ("news_rank", "BIGINT", "1: the provider with the most changes"),
    ("line_name", "VARCHAR", "Whose price a line is: AWS, lowest or median of the other providers"),
    ("begins_at", "TIMESTAMP", "Beginning of the span", "UTC"),
    ("ends_at", "TIMESTAMP", "End of the span", "UTC"),
    ("window_days", "INTEGER", "Length of the window", "days"),
    ("window_begins_on", "DATE", "First day of the window", "UTC"),
    ("window_ends_on", "DATE", "Last day of the window: the file's own date", "UTC"),
    ("drift_method", "VARCHAR", "chained: over every day in between (int.price_index); matched: offers known on both days"),
    ("sparkline", "DOUBLE[]", "Matched index of the last 90 days, one value for each of spark_days", "1 = today"),
    ("spark_days", "INTEGER[]", "How many days before the file's own date each value is of", "days"),
)
# fmt: on
