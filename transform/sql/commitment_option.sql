-- Each commitment that a provider sells beside the on-demand price of the same machine in the same place, in US dollars
-- per chip-hour, an upfront fee spread over the term. List prices only; of several on-demand prices of one machine the
-- cheapest without conditions that is ranked, or else the last one confirmed. They are compared in their own currency,
-- where both are ranked or confirmed within 30 days of each other. Without such a price (in its tier, but for the words
-- of the term), or a stated term, a commitment has no row. price_rank is of what anybody can buy.
with listed as (
    select
        *,
        is_ranked and decision.is_open_to_all(service_provider_name, instance_type, region_id) as may_rank,
        {
            'provider': service_provider_name, 'host': host_provider_name, 'region': region_id,
            'instance_type': instance_type, 'label': accelerator_label, 'count': accelerator_count,
            'unit': capacity_unit, 'fabric': fabric, 'currency': pricing_currency,
            'tier': nullif(regexp_replace(tier, '(, )?(monthly|[0-9]+(-[0-9]+|[+]) days)$', ''), '')
        } as machine
    from int.accelerator_hour_price
    where
        unit_price_type = 'List'
        and statistic = 'price'
        and restriction is null
        and conditions is null
        and price_per_accelerator_hour_usd > 0
),

on_demand as (
    from listed
    where purchase_option = 'on_demand'
    qualify
        row_number() over (
            partition by machine
            order by
                not is_ranked, if(is_ranked, 0, -epoch_us(last_observed_at)), price_per_accelerator_hour_usd, offer_id
        ) = 1
)

select
    c.service_provider_name,
    c.host_provider_name,
    c.region_id,
    c.instance_type,
    c.accelerator_name,
    c.form_factor,
    c.accelerator_count,
    c.capacity_unit,
    c.fabric,
    c.tier,
    c.purchase_option,
    c.commitment_discount_type,
    c.commitment_term_hours,
    c.purchase_payment_model,
    c.offering_class,
    c.pricing_currency,
    c.unit_price,
    c.upfront_price,
    c.price_per_accelerator_hour_usd,
    d.price_per_accelerator_hour_usd as on_demand_price_usd,
    case
        when
            (c.is_ranked and d.is_ranked) or abs(epoch(c.last_observed_at - d.last_observed_at)) <= 30 * 86400
            then c.price_per_accelerator_hour / d.price_per_accelerator_hour
    end as breakeven_share_on_demand,
    c.last_observed_at,
    c.is_current,
    c.is_ranked,
    c.age_days,
    c.evidence_kind,
    case
        when c.may_rank
            then row_number() over (
                partition by
                    c.accelerator_name, c.form_factor, c.service_provider_name, c.commitment_term_hours, c.may_rank
                order by c.price_per_accelerator_hour_usd, c.region_id, c.offer_id
            )
    end as price_rank,
    d.last_observed_at as on_demand_last_observed_at,
    d.is_current as on_demand_is_current,
    d.is_ranked as on_demand_is_ranked,
    c.document_sha256,
    d.offer_id as on_demand_offer_id,
    c.offer_id
from listed as c
inner join on_demand as d on c.machine is not distinct from d.machine
where c.purchase_option in ('reserved', 'savings_plan') and c.commitment_term_hours is not null
