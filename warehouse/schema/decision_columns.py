"""The columns of decisions: name, DuckDB type, meaning and unit of each, for `warehouse.schema.columns`."""

USD = "USD"
USD_M = "USD per million tokens"
MONTH = "USD per month"

DECISION = (
    # whether a move pays
    ("from_usd_per_million", "DOUBLE", "Cost per token where one is", USD_M),
    ("to_usd_per_million", "DOUBLE", "Cost per token where one would go", USD_M),
    ("engineering_usd", "DOUBLE", "Weeks x 40 hours x engineers x rate", USD),
    ("dual_running_usd", "DOUBLE", "The new side while the old one still serves", USD),
    ("stranded_usd", "DOUBLE", "What a commitment still owes with no use for it", USD),
    ("delay_usd", "DOUBLE", "What weeks of delay cost beside the saving that is not had", USD),
    ("one_off_usd", "DOUBLE", "What the move costs once: the four before it", USD),
    ("wait_months", "DOUBLE", "From the first day of the work until the new side serves", "months of 730 hours"),
    ("from_usd_per_month", "DOUBLE", "The load on the old side", MONTH),
    ("to_usd_per_month", "DOUBLE", "The load on the new side", MONTH),
    ("upkeep_usd_per_month", "DOUBLE", "Work that the new side needs", MONTH),
    ("saving_usd_per_million", "DOUBLE", "What the new side saves, its upkeep shared out over the load", USD_M),
    ("break_even_tokens", "DOUBLE", "one_off_usd / saving_usd_per_million x 10^6; NULL: never, or unknown", "tokens"),
    ("net_saving_usd_per_month", "DOUBLE", "What a month on the new side saves, upkeep paid", MONTH),
    (
        "break_even_months",
        "DOUBLE",
        "Running until one_off_usd is back; NULL: never, or unknown",
        "months of 730 hours",
    ),
    ("months_from_start", "DOUBLE", "wait_months + break_even_months", "months of 730 hours"),
    ("spend_to_pay_usd_per_month", "DOUBLE", "Spend on the old side from which it pays; NULL: at none", MONTH),
    ("horizon_months", "DOUBLE", "Time that is looked at", "months of 730 hours"),
    ("staying_usd", "DOUBLE", "Cost of the old side over the horizon", USD),
    ("moving_usd", "DOUBLE", "Cost of the move, then of the new side and its upkeep, over the horizon", USD),
    ("gain_usd", "DOUBLE", "staying_usd - moving_usd", USD),
    ("move_verdict", "VARCHAR", "pays within the horizon, too late for it, or never; NULL: unknown", ""),
    # make or buy
    ("unit_count", "BIGINT", "Whole units of one's own that serve the load", "units"),
    ("make_from_tokens_per_day", "DOUBLE", "Load above which they are cheaper than the hosted model", "tokens per day"),
    ("make_until_tokens_per_day", "DOUBLE", "Load up to which they are; NULL: from there on always", "tokens per day"),
)
