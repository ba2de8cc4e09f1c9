-- Each link of the chains of log.price_closed and log.price_open with its moments, confirmed for as long as its scope
-- was covered.
select
    c.offer_no,
    c.fetch_no,
    c.end_fetch_no,
    f.source,
    f.scope,
    f.observed_at as valid_from,
    e.observed_at as valid_to,
    greatest(f.observed_at, e.covered_at) as last_observed_at,
    c.unit_price,
    c.upfront_price,
    f.document_no,
    f.recorded_at
from log.price_closed as c
inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
inner join core.fetch_cover as e on c.end_fetch_no = e.fetch_no
union all by name
select
    p.*, -- noqa: AM04
    greatest(p.valid_from, s.covered_at) as last_observed_at,
    f.document_no
from log.price_open as p
inner join log.scope_fetch as f on p.fetch_no = f.fetch_no
left join core.scope_cover as s on p.source = s.source and p.scope = s.scope
