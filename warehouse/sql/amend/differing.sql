-- From when on prices of int.price_history, or how long they are known to have held, differ from the file before's: of
-- wanted offers by exact_row, of all links of chains by those that are new and by the covers of scopes. A price still
-- was what it was when it was last seen: how long it held differs from the moment after. A fetch before which none
-- covered its scope may be the first one, after which what is new is a new offer.
with before as (
    select c.*
    from link_row as c
    anti join former.core.price_history_replaced as r on c.offer_no = r.offer_no and c.fetch_no = r.fetch_no
    union all by name
    from former.core.price_history_other
),

begun as (
    select fetch_no from log.price_open
    union all
    select fetch_no from new_price_closed
    union all
    select fetch_no from core.fetch_cover
    where covered_at is null
),

seen as (
    select greatest(f.observed_at, e.covered_at) as last_observed_at
    from new_price_closed as c
    inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
    inner join core.fetch_cover as e on c.end_fetch_no = e.fetch_no
    union all
    select least(h.covered_at, b.covered_at) as last_observed_at
    from core.fetch_cover as h
    semi join asked_fetch as a on h.fetch_no = a.fetch_no
    inner join former.core.fetch_cover as b on h.fetch_no = b.fetch_no and (h.covered_at is distinct from b.covered_at)
    union all
    select b.covered_at as last_observed_at
    from former.core.scope_cover as b
    inner join core.scope_cover as h on b.source = h.source and b.scope = h.scope and b.covered_at < h.covered_at
)

select last_observed_at + interval 1 microsecond as since
from seen
union all
select
    case
        when
            h.offer_id is null
            or b.offer_id is null
            or h.source <> b.source
            or (h.unit_price is distinct from b.unit_price)
            or (h.upfront_price is distinct from b.upfront_price)
            then coalesce(h.valid_from, b.valid_from)
        when
            (h.valid_to is distinct from b.valid_to)
            or h.last_observed_at <> b.last_observed_at
            or h.last_source <> b.last_source
            then least(h.last_observed_at, b.last_observed_at) + interval 1 microsecond
    end as since
from exact_row as h
full join before as b on h.offer_id = b.offer_id and h.valid_from = b.valid_from
union all
select e.observed_at as since
from new_scope_fetch as e
semi join begun as p on e.fetch_no = p.fetch_no
