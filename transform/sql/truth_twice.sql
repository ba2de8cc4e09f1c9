-- One price under two identities, which differ in the words for the chip or in the spelling of the machine alone; one
-- machine in two currencies. AWS tells its prices by codes, and never twice.
with alike as (
    select
        offer_id,
        service_provider_name,
        source,
        valid_from,
        min(offer_id) over w as first_offer_id,
        count(*) over w as n_alike,
        row_number() over w as nth
    from (
        select
            *,
            hash(
                source, service_provider_name, host_provider_name, region_id, availability_zone_id,
                regexp_replace(lower(instance_type), '[^a-z0-9]', '', 'g'), accelerator_name, form_factor,
                accelerator_count, capacity_unit, minimum_quantity, fabric, purchase_option, commitment_discount_type,
                commitment_term_hours, purchase_payment_model, offering_class, tier, conditions, pricing_currency,
                pricing_unit, unit_price, upfront_price
            ) as likeness
        from mart.truth_price
        where accelerator_name is not null and service_provider_name <> 'AWS' and statistic = 'price'
    ) as p
    window w as (partition by likeness order by offer_id rows between unbounded preceding and unbounded following)
),

foreign_price as (
    select * from mart.truth_price
    where pricing_currency <> 'USD' and price_per_accelerator_hour_usd > 0
),

exchanged as (
    select
        f.service_provider_name as subject,
        f.offer_id,
        d.offer_id as other_offer_id,
        f.price_per_accelerator_hour_usd / d.price_per_accelerator_hour_usd as ratio,
        greatest(f.valid_from, d.valid_from) as began_at
    from foreign_price as f
    inner join mart.truth_price as d
        on
            f.service_provider_name = d.service_provider_name
            and d.pricing_currency = 'USD'
            and f.accelerator_name = d.accelerator_name
            and f.accelerator_count = d.accelerator_count
            and f.form_factor is not distinct from d.form_factor
            and f.purchase_option = d.purchase_option
            and f.statistic = d.statistic
            and f.commitment_term_hours is not distinct from d.commitment_term_hours
            and f.instance_type is not distinct from d.instance_type
            and f.last_observed_at between d.last_observed_at - interval 7 days and d.last_observed_at + interval 7 days
    where d.price_per_accelerator_hour_usd > 0
),

measured as (
    select
        p.*,
        not p.ratio between r.limit_low and r.limit_high as is_off,
        greatest(p.ratio / r.limit_high, r.limit_low / p.ratio) as badness
    from exchanged as p
    inner join mart.truth_rule as r on r.check_name = 'two_currencies'
)

select
    'told_twice' as check_name,
    service_provider_name || ': ' || source as subject,
    count(*) as n_compared,
    count(*) filter (where nth > 1) as n_differing,
    count(*) filter (where nth > 1) / count(*) as checked_value,
    null::DOUBLE as limit_low,
    null::DOUBLE as limit_high,
    null::VARCHAR as example,
    max(offer_id) filter (where nth > 1) as offer_id,
    arg_max(first_offer_id, offer_id) filter (where nth > 1) as other_offer_id,
    max(valid_from) filter (where nth > 1) as newest_differing_at
from alike
group by service_provider_name, source
having count(*) > 1
union all
select
    'two_currencies' as check_name,
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
group by subject
