"""The columns of truth checks: name, DuckDB type, meaning and unit, for `warehouse.schema.columns`."""

TRUTH = (
    ("check_name", "VARCHAR", "Name of a truth check; docs/auditing-a-claim.md#truth-checks says of each what it asks", ""),
    ("check_group", "VARCHAR", "What kind of check it is, such as second source or units", ""),
    ("meaning", "VARCHAR", "What checked_value is, in words", ""),
    ("advice", "VARCHAR", "What to do where the check differs", ""),
    ("nothing_to_compare", "VARCHAR", "Why the check may find nothing to look at", ""),
    ("n_compared", "BIGINT", "Prices, pairs of prices, looks or events that were compared; 0: not checked", ""),
    ("n_differing", "BIGINT", "Of these, those outside the limits or without their like", ""),
    (
        "checked_value",
        "DOUBLE",
        "The share, the sum, or of several ratios the one that is nearest to a limit",
        "",
    ),
    ("limit_low", "DOUBLE", "Least value with which the check holds", ""),
    ("limit_high", "DOUBLE", "Greatest value with which the check holds", ""),
    ("result", "VARCHAR", "holds, differs, or not_checked where there was nothing to compare", ""),
    (
        "example",
        "VARCHAR",
        "The worst case in words: both offers, prices and documents; NULL: none differs",
        "",
    ),
    (
        "terms",
        "UBIGINT",
        "Number that prices of one chip on the same terms have in common, whatever their sizes; it says nothing else",
        "",
    ),
    ("ratio", "DOUBLE", "Price of offer_id over that of other_offer_id, or over the median of its like", "ratio"),
    ("began_at", "TIMESTAMP", "From when the price of offer_id holds, or both of a pair do", "UTC"),
    (
        "other_offer_id",
        "BIGINT",
        "Offer that the other, or the worst, was compared with; NULL where it was with none",
        "",
    ),
    ("newest_differing_at", "TIMESTAMP", "When the newest of what differs was first seen; NULL: none differs", "UTC"),
    ("checked_at", "TIMESTAMP", "When the check was made: when the file was built", "UTC"),
)
"""`subject`, `unit` and `reason` have their meaning beside the audit's."""
