"""Columns of claims and their audit: name, DuckDB type, meaning, and unit where there is one, for `warehouse.schema.columns`."""

# ruff: noqa: E501 (one column a line reads as a table)

# fmt: off
AUDIT: tuple[tuple[str, ...], ...] = (
    ("claim_id", "VARCHAR", "One published number"),
    ("article", "VARCHAR", "File name of the text in which it stands"),
    ("article_title", "VARCHAR", "Title of that text"),
    ("place", "VARCHAR", "Where in the text it stands"),
    ("subject", "VARCHAR", "What the number is about, as the claim names it; of a check: provider, source, scope or chip"),
    ("metric", "VARCHAR", "What the number is"),
    ("claim_kind", "VARCHAR", "Which kind of check it gets: price, throughput, saving and the like; other: none is known"),
    ("claimed", "VARCHAR", "The number or range as it was printed", "unit"),
    ("hedge", "VARCHAR", "Words that make it less than exact, such as ~ or up to; NULL where there are none"),
    ("claim_conditions", "VARCHAR", "What else the text says of the number, in short words"),
    ("claimed_as_of", "VARCHAR", "Date of the text as it states it"),
    ("claimed_from", "DATE", "First day on which it may have been said; NULL: open", "UTC"),
    ("claimed_until", "DATE", "Last day on which it may have been said; NULL: open", "UTC"),
    ("claimed_tokens", "DOUBLE", "Tokens that the claim is about, such as those of a training", "tokens"),
    ("derived_from", "VARCHAR", "Claims that the text says it was computed from"),
    ("verdict", "VARCHAR", "As of its date: consistent, stale, inconsistent, physically_impossible or unverifiable"),
    ("verdict_today", "VARCHAR", "The same when the file was built, by the last known prices"),
    ("standing", "VARCHAR", "verdict with the claims that it rests on in view: arithmetic holds, input does not"),
    ("standing_today", "VARCHAR", "The same by verdict_today; true then: a price that was right on its date and is not now"),
    ("decided_by", "VARCHAR", "What decided: bound, arithmetic, history, evidence or nothing"),
    ("recomputed_value", "DOUBLE", "What the check gives in place of the number; of a bound the bound", "unit"),
    ("arithmetic", "VARCHAR", "The check in words, or the reason for which nothing could be checked"),
    ("readings", "VARCHAR", "Every way in which the number was read, with what each gives"),
    ("bounds", "VARCHAR", "Bounds of physics that it was held against"),
    ("rests_on", "VARCHAR", "Claims that it was computed from"),
    ("evidence_documents", "VARCHAR", "Addresses of what the check rests on"),
    ("evidence_until", "DATE", "Last day on which a price that was used was confirmed", "UTC"),
    ("quantity", "VARCHAR", "What both numbers are of, with its conditions"),
    ("other_claim_id", "VARCHAR", "The other claim"),
    ("other_article", "VARCHAR", "File name of the text of the other claim"),
    ("other_claimed", "VARCHAR", "What the other claim says of the same", "unit"),
    ("other_verdict", "VARCHAR", "verdict of the other claim"),
)
# fmt: on
