-- Rows of one look that name the same offer twice: with different amounts none can be believed; with equal amounts
-- one is kept and its copies are refused as duplicates.
select
    row_number,
    count(distinct (coalesce(unit_price, -1), coalesce(upfront_price, -1))) over w as n_prices,
    row_number() over (w order by row_number) as copy
from observed_row
window w as (partition by offer_id, look_number, observed_at)
qualify count(*) over w > 1
