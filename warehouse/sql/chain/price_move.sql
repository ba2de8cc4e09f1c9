-- Moves of int.price_move from one link of a chain to the next, with the kinds that core.price_move_kind has of them.
-- The larger a table, the later it is joined, the last one laterally: so DuckDB reads for a few moves no table whole.
with moved as (
    select
        k.*, -- noqa: AM04
        f.observed_at,
        f.source,
        d.document_sha256,
        a.unit_price as unit_price_after,
        a.upfront_price as upfront_price_after,
        b.unit_price as unit_price_before,
        b.upfront_price as upfront_price_before,
        case when b.offer_no is not null then greatest(s.observed_at, c.covered_at) end as last_observed_before_at,
        s.source as source_before
    from core.price_move_kind as k
    inner join log.scope_fetch as f on k.fetch_no = f.fetch_no
    inner join core.fetch_cover as c on f.fetch_no = c.fetch_no and f.observed_at = c.observed_at
    inner join log.begun_link as a on k.offer_no = a.offer_no and k.fetch_no = a.fetch_no
    left join log.document as d on f.document_no = d.document_no
    left join log.price_closed as b on k.offer_no = b.offer_no and k.fetch_no = b.end_fetch_no
    left join lateral (from log.scope_fetch as x where b.fetch_no = x.fetch_no) as s on true -- noqa: ST05, LT14
)

select
    m.*, -- noqa: AM04
    o.offer_id,
    o.purchase_option,
    core.hourly_price(
        m.unit_price_before, m.upfront_price_before, u.hours_per_pricing_unit, o.commitment_term_hours
    ) as effective_hourly_price_before,
    core.hourly_price(
        m.unit_price_after, m.upfront_price_after, u.hours_per_pricing_unit, o.commitment_term_hours
    ) as effective_hourly_price_after
from moved as m
inner join core.offer as o on m.offer_no = o.offer_no
inner join core.offer_unit as u on o.offer_id = u.offer_id
