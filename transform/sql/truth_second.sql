-- One price from two sources: the same offer in both; a provider's prices per chip in both under whatever names; AWS's
-- by its API and by its public files. Two sources are compared where each confirmed its prices within a week of the
-- other. Spot prices and statistics of markets move by the hour, and are no second reading of anything.
with observed as materialized (
    select
        p.*,
        o.offer_id,
        o.service_provider_name,
        o.purchase_option
    from log.sku_price as p
    inner join core.offer as o on p.offer_no = o.offer_no
    where
        p.valid_to is null
        and o.purchase_option <> 'spot'
        and o.statistic in ('price', 'floor')
        and o.restriction is null
        and o.unit_price_type = 'List'
),

teller as (
    select
        service_provider_name,
        purchase_option,
        source,
        max(last_observed_at) as newest_at
    from observed
    group by service_provider_name, purchase_option, source
),

beside as materialized (
    select
        a.service_provider_name,
        a.purchase_option,
        a.source,
        b.source as other_source
    from teller as a
    inner join teller as b
        on
            a.service_provider_name = b.service_provider_name
            and a.purchase_option = b.purchase_option
            and a.source < b.source
            and b.newest_at between a.newest_at - interval 7 days and a.newest_at + interval 7 days
),

recent as (
    select
        t.*,
        o.region_id,
        o.commitment_term_hours,
        o.purchase_payment_model,
        o.offering_class,
        o.pricing_currency,
        u.accelerator_name,
        u.form_factor,
        core.hourly_price(t.unit_price, t.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
        / u.accelerator_count::DOUBLE as price
    from observed as t
    inner join core.offer as o on t.offer_id = o.offer_id
    inner join core.offer_unit as u on t.offer_id = u.offer_id
    semi join beside as b
        on t.service_provider_name = b.service_provider_name and t.purchase_option = b.purchase_option
    semi join teller as n
        on
            t.service_provider_name = n.service_provider_name and t.purchase_option = n.purchase_option
            and t.source = n.source and t.last_observed_at >= n.newest_at - interval 7 days
    where u.accelerator_name is not null
),

pair as materialized (
    select
        b.service_provider_name || ': ' || b.source || ', ' || b.other_source as subject,
        hash(
            b.service_provider_name, b.source, b.other_source, p.accelerator_name, p.purchase_option,
            p.commitment_term_hours, p.purchase_payment_model, p.offering_class, p.pricing_currency,
            case when p.service_provider_name = 'AWS' then p.region_id end
        ) as terms,
        p.offer_id,
        q.offer_id as other_offer_id,
        p.price,
        q.price as other_price,
        p.unit_price,
        q.unit_price as other_unit_price,
        p.source,
        q.source as other_source,
        p.document_no,
        p.document_sha256,
        q.document_no as other_document_no,
        q.document_sha256 as other_document_sha256,
        greatest(p.valid_from, q.valid_from) as began_at,
        abs(p.price / q.price - 1) <= 0.01 or abs(q.price / p.price - 1) <= 0.01 as is_close
    from beside as b
    inner join recent as p
        on
            b.service_provider_name = p.service_provider_name
            and b.purchase_option = p.purchase_option
            and b.source = p.source
    inner join recent as q
        on
            p.service_provider_name = q.service_provider_name
            and p.purchase_option = q.purchase_option
            and b.other_source = q.source
            and p.accelerator_name = q.accelerator_name
            and p.pricing_currency = q.pricing_currency
            and p.commitment_term_hours is not distinct from q.commitment_term_hours
            and p.purchase_payment_model is not distinct from q.purchase_payment_model
            and p.offering_class is not distinct from q.offering_class
            and (p.service_provider_name <> 'AWS' or p.region_id = q.region_id)
            and coalesce(p.form_factor = q.form_factor, true)
    where p.price > 0 and q.price > 0
),

measured as (
    select
        p.*,
        p.price / p.other_price as ratio,
        not p.price / p.other_price between r.limit_low and r.limit_high as is_off,
        greatest(p.price / p.other_price / r.limit_high, r.limit_low * p.other_price / p.price) as badness
    from pair as p
    inner join ref.truth_rule as r on r.check_name = 'two_sources'
    where p.offer_id = p.other_offer_id
),

-- Documents are read of prices that differ alone.
cited as (
    from log.document
    where
        document_no in (
            select unnest([m.document_no, m.other_document_no]) from measured as m
            where m.is_off
        )
),

matched as (
    select
        *,
        bool_or(is_close) over (partition by terms, price) and bool_or(is_close) over (partition by terms, other_price)
            as is_matched
    from pair
),

key as (
    select
        subject,
        least(count(distinct price), count(distinct other_price)) as n_compared,
        least(
            count(distinct price) filter (where is_close), count(distinct other_price) filter (where is_close)
        ) as n_close,
        arg_min(offer_id, (abs(ln(price / other_price)), offer_id, other_offer_id)) filter (where not is_matched)
            as offer_id,
        arg_min(other_offer_id, (abs(ln(price / other_price)), offer_id, other_offer_id)) filter (where not is_matched)
            as other_offer_id,
        max(began_at) filter (where not is_matched) as began_at
    from matched
    group by subject, terms
),

door as (
    select
        r.scope,
        r.observed_at,
        r.n_rows,
        r.source,
        d.url like 'http%' as is_bulk,
        lag(d.url like 'http%') over (partition by r.scope order by r.observed_at) as was_bulk
    from log.run as r
    inner join log.document as d on r.document_no = d.document_no and d.recorded_at is not null
    where
        r.source = 'aws_price_list' and r.status = 'ok' and not r.archived
        and r.observed_at >= meta.built_at() - interval 30 days
),

moved as (
    select
        d.scope,
        d.n_rows,
        count(p.offer_no) as n_moved,
        max(o.offer_id) as offer_id,
        max(p.valid_from) as began_at
    from door as d
    left join log.sku_price as p
        on
            d.source = p.source and d.scope = p.scope and d.observed_at = p.valid_from
            and p.valid_from >= meta.built_at() - interval 30 days
    left join core.offer as o on p.offer_no = o.offer_no
    where d.is_bulk <> d.was_bulk
    group by d.scope, d.observed_at, d.n_rows
)

select
    'two_sources' as check_name,
    m.subject,
    count(*) as n_compared,
    count(*) filter (where m.is_off) as n_differing,
    arg_max(m.ratio, (m.badness, m.offer_id, m.other_source, m.began_at)) as checked_value,
    arg_max(
        m.source || ' (document ' || coalesce(m.document_sha256, d.document_sha256)[:12] || '): '
        || m.unit_price::DOUBLE || '; ' || m.other_source || ' (document '
        || coalesce(m.other_document_sha256, e.document_sha256)[:12] || '): ' || m.other_unit_price::DOUBLE,
        (m.badness, m.offer_id, m.other_source, m.began_at)
    ) filter (where m.is_off) as example,
    arg_max(m.offer_id, (m.badness, m.offer_id, m.other_source, m.began_at)) as offer_id,
    max(m.began_at) filter (where m.is_off) as newest_differing_at
from measured as m
left join cited as d on m.document_no = d.document_no
left join cited as e on m.other_document_no = e.document_no
group by m.subject
union all by name
select
    'another_reading' as check_name,
    subject,
    sum(n_compared)::BIGINT as n_compared,
    sum(n_compared - n_close)::BIGINT as n_differing,
    sum(n_close) / sum(n_compared) as checked_value,
    arg_max(offer_id, (n_compared - n_close, offer_id)) filter (where offer_id is not null) as offer_id,
    arg_max(other_offer_id, (n_compared - n_close, offer_id)) filter (where offer_id is not null) as other_offer_id,
    max(began_at) filter (where n_close < n_compared) as newest_differing_at
from key
group by subject
union all by name
select
    'two_doors' as check_name,
    'aws_price_list ' || scope as subject,
    sum(n_rows)::BIGINT as n_compared,
    sum(n_moved)::BIGINT as n_differing,
    max(n_moved / n_rows) as checked_value,
    null as example,
    max(offer_id) as offer_id,
    max(began_at) as newest_differing_at
from moved
where n_rows > 0
group by scope
