-- The last events of chains of offers in `touched`; of which document they are matters to nobody here.
select
    o.offer_id,
    p.source,
    p.scope,
    p.valid_from,
    p.unit_price,
    p.upfront_price,
    null::VARCHAR as document_sha256,
    p.recorded_at,
    null::TIMESTAMP as retracts_recorded_at
from touched as t
inner join core.offer as o on t.offer_id = o.offer_id
inner join log.open_link as p on o.offer_no = p.offer_no and t.source = p.source
where not t.is_whole
