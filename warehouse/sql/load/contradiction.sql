-- Rows of one fetch that name the same offer twice: with different amounts none can be believed; with equal amounts
-- one is kept and its copies are refused as duplicates.
with priced as (
    select
        row_number,
        offer_id,
        fetch_number,
        observed_at,
        concat_ws(' and ', coalesce(unit_price::VARCHAR, '-'), coalesce(upfront_price::VARCHAR, '-')) as amounts
    from observed_row
)

select
    row_number,
    count(distinct amounts) over w as n_prices,
    row_number() over (w order by row_number) as copy_number
from priced
window w as (partition by offer_id, fetch_number, observed_at)
qualify count(*) over w > 1
