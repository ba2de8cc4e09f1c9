-- Rows whose moment has two prices in the log since they were appended, with the other price and its document.
with said as (
    from touched_event
    where retracts_recorded_at is null
    union all by name
    from new_event
)

select
    r.row_number,
    min(s.unit_price) as other_price,
    min_by(s.document_sha256, s.unit_price) as document_sha256
from observed_row as r
semi join fresh_point as f
    on r.offer_id = f.offer_id and r.source = f.source and r.observed_at = f.observed_at and f.is_void
inner join said as s
    on
        r.offer_id = s.offer_id
        and r.source = s.source
        and r.observed_at = s.valid_from
        and r.unit_price <> s.unit_price
group by r.row_number
order by r.row_number
