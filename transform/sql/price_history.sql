-- The history of each offer, spliced from all sources that speak of it.
-- At any moment the source of the lowest precedence number that was then confirmed is believed; where none was, the
-- last price is held. So the earliest source dates a change, unless a better one still confirmed the old price then.
-- effective_hourly_price is the one price per hour of each: unit_price over the hours that it buys, and an upfront fee
-- spread over the term, unit_price + upfront_price / commitment_term_hours (AWS's own convention of 8760 hours a year).
-- Amounts of two sources within a ten-thousandth of each other are one amount, differently rounded.
-- gone are intervals that end without another price beginning: the offer was gone.
with gone as (
    select
        p.offer_id,
        p.source,
        p.scope,
        p.valid_to as valid_from,
        lead(p.valid_from) over w as next_from,
        p.document_sha256
    from core.sku_price as p
    window w as (partition by p.offer_id, p.source order by p.valid_from)
    qualify p.valid_to is not null and next_from is distinct from p.valid_to
),

ended as (
    select
        offer_id,
        source,
        valid_from,
        min(document_sha256) as document_sha256
    from core.price_event
    where unit_price is null and upfront_price is null and retracts_recorded_at is null
    group by offer_id, source, valid_from
),

covered as (
    from core.scope_run
    where complete and status = 'ok'
),

span as (
    from core.sku_price
    union all by name
    select
        g.offer_id,
        g.source,
        g.valid_from,
        greatest(g.valid_from, c.observed_at) as last_observed_at,
        coalesce(e.document_sha256, g.document_sha256) as document_sha256
    from gone as g
    left join ended as e
        on g.offer_id = e.offer_id and g.source = e.source and g.valid_from = e.valid_from
    asof left join covered as c
        on
            g.source = c.source
            and g.scope = c.scope
            and coalesce(g.next_from, TIMESTAMP '9999-01-01') > c.observed_at
),

believed as (
    select
        s.*,
        o.precedence,
        count(distinct s.source) over (partition by s.offer_id) > 1 as is_shared
    from span as s
    inner join core.source as o on s.source = o.source
),

boundary as (
    select distinct
        offer_id,
        unnest([valid_from, last_observed_at + interval 1 microsecond]) as bound_at
    from believed
    where is_shared
),

spliced as (
    select
        b.offer_id,
        b.bound_at as valid_from,
        arg_min(
            {
                'source': s.source,
                'last_observed_at': s.last_observed_at,
                'unit_price': s.unit_price,
                'upfront_price': s.upfront_price,
                'document_sha256': s.document_sha256
            },
            (s.precedence, s.source)
        ) as s
    from boundary as b
    inner join believed as s
        on b.offer_id = s.offer_id and b.bound_at >= s.valid_from and b.bound_at <= s.last_observed_at
    group by b.offer_id, b.bound_at
),

observed as (
    from believed
    where not is_shared
    union all by name
    select
        offer_id,
        valid_from,
        s.*
    from spliced
),

compared as (
    select
        *,
        row_number() over w = 1
        or (unit_price is null) <> (lag(unit_price) over w is null)
        or (upfront_price is null) <> (lag(upfront_price) over w is null)
        or abs(unit_price - lag(unit_price) over w)
        > case when source = lag(source) over w then 0 else unit_price / 10000 end
        or abs(upfront_price - lag(upfront_price) over w)
        > case when source = lag(source) over w then 0 else upfront_price / 10000 end as is_change
    from observed
    window w as (partition by offer_id order by valid_from)
),

numbered as (
    select
        *,
        count(*) filter (where is_change) over (partition by offer_id order by valid_from) as spell
    from compared
),

spell as (
    select
        offer_id,
        min(valid_from) as valid_from,
        max(valid_from) as last_seen_at,
        max(last_observed_at) as last_observed_at,
        arg_min(unit_price, valid_from) as unit_price,
        arg_min(upfront_price, valid_from) as upfront_price,
        arg_min(source, valid_from) as source,
        arg_max(source, last_observed_at) as last_source,
        arg_min(document_sha256, valid_from) as document_sha256
    from numbered
    group by offer_id, spell
)

select
    s.offer_id,
    s.valid_from,
    lead(s.valid_from) over w as valid_to,
    -- a source that is no longer believed may have gone on telling the old price
    case when s.last_observed_at >= lead(s.valid_from) over w then s.last_seen_at else s.last_observed_at end
        as last_observed_at,
    s.unit_price,
    s.upfront_price,
    core.hourly_price(s.unit_price, s.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
        as effective_hourly_price,
    s.source,
    s.last_source,
    s.document_sha256
from spell as s
inner join core.offer as o on s.offer_id = o.offer_id
inner join core.offer_unit as u on s.offer_id = u.offer_id
window w as (partition by s.offer_id order by s.valid_from)
