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
),

priced as (
    select
        r.*,
        concat_ws(' and ', coalesce(r.unit_price::VARCHAR, '-'), coalesce(r.upfront_price::VARCHAR, '-')) as amounts
    from observed_row as r
    semi join repeated as t
        on r.offer_id = t.offer_id and r.fetch_number = t.fetch_number and r.observed_at = t.observed_at
)

select
    row_number,
    count(distinct amounts) over w as n_prices,
    row_number() over (w order by row_number) as copy_number
from priced
window w as (partition by offer_id, fetch_number, observed_at)
