-- Offers that a complete fetch should have shown and did not: they are not offered at that moment.
-- Left out are those that the fetch showed but a gate refused (nothing is known of them), and those already absent.
select
    p.offer_id,
    l.source,
    l.scope,
    l.observed_at,
    null::DECIMAL(18, 10) as unit_price,
    null::DECIMAL(18, 10) as upfront_price,
    l.document_sha256
from new_fetch as l
inner join touched_point(TIMESTAMP '9999-01-01') as p
    on l.source = p.source and l.scope = p.scope and l.observed_at >= p.valid_from and not p.is_void
anti join observed_row as o on p.offer_id = o.offer_id and l.source = o.source and l.observed_at = o.observed_at
anti join new_refusal as r on p.offer_id = r.offer_id and l.source = r.source and l.observed_at = r.observed_at
where l.complete
group by p.offer_id, l.source, l.scope, l.observed_at, l.document_sha256
having
    arg_max(p.unit_price is not null or p.upfront_price is not null, p.valid_from)
