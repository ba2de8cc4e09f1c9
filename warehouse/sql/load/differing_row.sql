-- Rows of offers of which one does not repeat the log's last word, or a price waits; of a dated history all.
with differing_offer as (
    select
        r.offer_id,
        r.source
    from observed_row as r
    anti join repeated_row as s on if(r.is_archived, null, r.row_number) = s.row_number
    union all
    select
        offer_id,
        source
    from held_key
)

select r.* -- noqa: AM04
from observed_row as r
semi join differing_offer as d on r.offer_id = d.offer_id and r.source = d.source
