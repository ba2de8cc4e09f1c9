-- One price under two identities, which differ in the words for the chip or in the spelling of the machine alone. AWS
-- tells its prices by codes, and never twice.
with alike as (
    select
        offer_id,
        service_provider_name,
        source,
        valid_from,
        hash(
            source, service_provider_name, host_provider_name, region_id, availability_zone_id,
            regexp_replace(lower(instance_type), '[^a-z0-9]', '', 'g'), accelerator_name, form_factor,
            accelerator_count, capacity_unit, minimum_quantity, fabric, purchase_option, commitment_discount_type,
            commitment_term_hours, purchase_payment_model, offering_class, tier, conditions, pricing_currency,
            pricing_unit, unit_price, upfront_price
        ) as likeness,
        min(offer_id) over w as first_offer_id,
        row_number() over w as nth
    from int.truth_price
    where accelerator_name is not null and service_provider_name <> 'AWS' and statistic = 'price'
    window w as (partition by likeness order by offer_id rows between unbounded preceding and unbounded following)
)

select
    'told_twice' as check_name,
    service_provider_name || ': ' || source as subject,
    count(*) as n_compared,
    count(*) filter (where nth > 1) as n_differing,
    count(*) filter (where nth > 1) / count(*) as checked_value,
    max(offer_id) filter (where nth > 1) as offer_id,
    arg_max(first_offer_id, offer_id) filter (where nth > 1) as other_offer_id,
    max(valid_from) filter (where nth > 1) as newest_differing_at
from alike
group by service_provider_name, source
having count(*) > 1
