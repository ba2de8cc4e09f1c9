"""The columns of questions asked by hand: name, DuckDB type, meaning and unit of each, for the registry."""

QUERY = (
    (
        "price_rank",
        "BIGINT",
        "Place by price within its purchase option and commitment class, current prices first; 1: the cheapest",
        "",
    ),
    (
        "held_days",
        "DOUBLE",
        "How long before the moment asked the price was last confirmed; 0 where it was confirmed then or later",
        "days",
    ),
    (
        "is_confirmed",
        "BOOLEAN",
        "Whether a source confirmed the price after the moment asked, or within its max_age before it",
        "",
    ),
)
