-- The last link of each chain, with its document, confirmed for as long as its scope was covered.
select
    p.*, -- noqa: AM04
    f.document_no,
    greatest(p.valid_from, s.covered_at) as last_observed_at
from log.price_open as p
inner join log.scope_fetch as f on p.fetch_no = f.fetch_no
left join core.scope_cover as s on p.source = s.source and p.scope = s.scope
order by p.offer_no, p.source
