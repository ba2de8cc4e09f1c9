-- Each link of the chains of log.price_closed and log.last_link with its moments, confirmed for as long as its scope
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
from log.last_link
