-- Rows of one fetch that name the same offer twice: with different amounts none can be believed; with equal amounts
-- one is kept and its copies are refused as duplicates.
with repeated as (
    select
        offer_id,
        fetch_number,
        observed_at
    from observed_row
    group by offer_id, fetch_number, observed_at
    having count(*) > 1
)

select
    r.row_number,
    count(distinct row(r.unit_price, r.upfront_price)) over w as n_prices,
    row_number() over (w order by r.row_number) as copy_number
from observed_row as r
semi join repeated as t
    on r.offer_id = t.offer_id and r.fetch_number = t.fetch_number and r.observed_at = t.observed_at
window w as (partition by r.offer_id, r.fetch_number, r.observed_at)
