-- Prices per chip of one chip beside one another: sizes, regions, hours and months, and factors that are a unit's.
with listed as materialized (
    select
        *,
        hash(
            service_provider_name, host_provider_name, region_id, accelerator_name, form_factor, purchase_option,
            commitment_discount_type, commitment_term_hours, purchase_payment_model, offering_class, tier, statistic,
            conditions, fabric, pricing_currency
        ) as terms,
        case when service_provider_name = 'AWS' then split_part(regexp_replace(instance_type, '^ml[.]', ''), '.', 1) end
            as family
    from mart.truth_price
    where price_per_accelerator_hour > 0
),

sized as (
    select
        case when family similar to '(p|trn)[0-9].*' then 'training_sizes_agree' else 'sizes_agree' end as check_name,
        service_provider_name as subject,
        offer_id,
        arg_min(offer_id, (price_per_accelerator_hour, offer_id)) over w as other_offer_id,
        price_per_accelerator_hour / min(price_per_accelerator_hour) over w as ratio,
        valid_from as began_at,
        count(*) over w as n_alike
    from listed
    where purchase_option = 'on_demand' and statistic = 'price'
    window w as (partition by terms, family, capacity_unit, instance_type like 'ml.%')
),

placed as (
    select
        'regions_agree' as check_name,
        service_provider_name as subject,
        offer_id,
        arg_max(offer_id, (last_observed_at, offer_id)) over w as other_offer_id,
        effective_hourly_price / median(effective_hourly_price) over w as ratio,
        valid_from as began_at,
        count(*) over w as n_alike
    from listed
    where purchase_option = 'on_demand' and statistic = 'price' and instance_type is not null
    window w as (
        partition by
            service_provider_name, host_provider_name, instance_type, accelerator_label, accelerator_count, tier,
            conditions, pricing_currency, capacity_unit
    )
),

monthly as (
    select
        'month_and_hour' as check_name,
        m.service_provider_name as subject,
        m.offer_id,
        h.offer_id as other_offer_id,
        m.price_per_accelerator_hour / h.price_per_accelerator_hour as ratio,
        greatest(m.valid_from, h.valid_from) as began_at
    from listed as m
    inner join listed as h
        on
            m.service_provider_name = h.service_provider_name
            and m.accelerator_name = h.accelerator_name
            and m.accelerator_count = h.accelerator_count
            and m.region_id is not distinct from h.region_id
            and m.instance_type is not distinct from h.instance_type
            and m.pricing_currency = h.pricing_currency
            and h.purchase_option = 'on_demand'
            and h.pricing_unit is null
    where m.pricing_unit = 'Months' and m.statistic = 'price' and h.statistic = 'price'
),

pair as (
    select * exclude (n_alike) from sized
    where n_alike > 1
    union all
    select * exclude (n_alike) from placed
    where n_alike > 2
    union all
    select * from monthly
),

measured as (
    select
        p.*,
        not p.ratio between r.limit_low and r.limit_high as is_off,
        greatest(p.ratio / r.limit_high, r.limit_low / p.ratio) as badness
    from pair as p
    inner join mart.truth_rule as r on p.check_name = r.check_name
),

amount as materialized (
    select
        terms,
        service_provider_name,
        (price_per_accelerator_hour * 1e6)::BIGINT as micros,
        min(offer_id) as offer_id,
        max(valid_from) as began_at
    from listed
    where purchase_option <> 'spot'
    group by all
),

f as (select unnest([8, 24, 60, 730]) as factor),

multiple as (
    select
        a.service_provider_name as subject,
        count(*) as n_differing,
        arg_min(a.offer_id, (a.micros, a.offer_id)) as offer_id,
        arg_min(b.offer_id, (a.micros, a.offer_id)) as other_offer_id,
        max(greatest(a.began_at, b.began_at)) as newest_differing_at
    from amount as a
    cross join f
    inner join amount as b on a.terms = b.terms and a.micros * f.factor = b.micros
    group by a.service_provider_name
),

several as (
    select
        service_provider_name as subject,
        sum(n)::BIGINT as n_compared
    from (
        select
            terms,
            service_provider_name,
            count(*) as n
        from amount
        group by all
        having n > 1
    ) as t
    group by service_provider_name
)

select
    check_name,
    subject,
    count(*) as n_compared,
    count(*) filter (where is_off) as n_differing,
    arg_max(ratio, (badness, offer_id, other_offer_id)) as checked_value,
    null::DOUBLE as limit_low,
    null::DOUBLE as limit_high,
    null::VARCHAR as example,
    arg_max(offer_id, (badness, offer_id, other_offer_id)) as offer_id,
    arg_max(other_offer_id, (badness, offer_id, other_offer_id)) as other_offer_id,
    max(began_at) filter (where is_off) as newest_differing_at
from measured
group by check_name, subject
union all
select
    'unit_factor' as check_name,
    s.subject,
    s.n_compared,
    coalesce(m.n_differing, 0) as n_differing,
    coalesce(m.n_differing, 0)::DOUBLE as checked_value,
    null as limit_low,
    null as limit_high,
    null as example,
    m.offer_id,
    m.other_offer_id,
    m.newest_differing_at
from several as s
left join multiple as m on s.subject = m.subject
