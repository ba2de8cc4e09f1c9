-- Each way to have chips that a token's cost is computed with, at one price per usable chip-hour in US dollars; or why
-- there is no price (unknown_reason). The price is that of the offer named: of each size the cheapest of all regions.
--   on demand and others  the rows of int.cost_price; a marketplace's 25th percentile, or its median
--   commitments           one row per kind of plan or Reserved class, term and payment, an upfront fee spread over it;
--                         of Capacity Blocks one per machine too
--   spot of AWS           one row per zone for the mean of 30 days, that of 7 days, and the last price seen, which is
--                         no mean. A mean needs the price at the start of its window, and half of the window covered.
--                         Price / (1 - lost_share), what interruptions lose, where the Spot Advisor's band is known.
--   Capacity Blocks       price / usable share: the last 30 minutes (P6e-GB200: 60) are paid and cannot be used. A
--                         published rate names no length; 24 hours are assumed, and offer_terms says so.
--   not collected         what AWS sells of a chip that it has on demand, and of which no price was ever seen
-- price_kind is price, mean_30d or mean_7d: what may be ranked together. on_demand_price_usd is AWS's cheapest ranked
-- (else newest) on-demand price of the chip: a plan is worth its price below it x the share of its hours that are used.
with listed as (
    select
        p.*,
        c.form_factor as chip_form_factor,
        p.is_ranked and not p.is_sold_out as is_price_ranked
    from int.listed_price as p
    inner join ref.accelerator as c
        on p.accelerator_name = c.accelerator_name and (p.form_factor = c.form_factor or c.form_factor is null)
    where p.statistic = 'price' and p.price_per_accelerator_hour_usd > 0
),

zone as (
    select
        l.*,
        r.interruption_band,
        cost.spot_lost_share(r.interruption_band) as lost_share,
        l.usd_per_currency_unit / z.accelerator_count::DOUBLE as usd_per_unit_price,
        concat_ws(
            ', ',
            coalesce(z.availability_zone_id, z.availability_zone),
            'of ' || count(*) over same_chip || ' zones',
            'at ' || printf('%.3g', min(l.price_per_accelerator_hour_usd) over same_chip)
            || ' to ' || printf('%.3g', max(l.price_per_accelerator_hour_usd) over same_chip),
            printf('not below on demand in %.0f %% of 30 days', 100 - 100 * z.below_on_demand_share_30d),
            'interrupted ' || r.interruption_band || ' a month'
        ) as risk,
        unnest([
            { 'price_kind': 'mean_30d', 'days': 30, 'mean': z.mean_price_30d, 'known': z.priced_share_30d },
            { 'price_kind': 'mean_7d', 'days': 7, 'mean': z.mean_price_7d, 'known': z.priced_share_7d },
            { 'price_kind': 'price', 'days': null, 'mean': null, 'known': null }
        ]) as span
    from listed as l
    inner join int.spot_zone_price as z on l.offer_id = z.offer_id
    left join int.spot_region_price as r on z.region_id = r.region_id and z.instance_type = r.instance_type
    where l.purchase_option = 'spot'
    window same_chip as (partition by l.accelerator_name, l.form_factor, l.service_provider_name)
),

spot_window as (
    select
        *,
        span['price_kind'] as price_kind,
        case
            when span['days'] is null then price_per_accelerator_hour_usd
            when span['known'] >= 0.5 then span['mean'] * usd_per_unit_price
        end / (1 - coalesce(lost_share, 0)) as price_usd,
        case
            when span['days'] is null then null
            when span['mean'] is null then 'the price at the start of the ' || span['days'] || ' days was not seen'
            when span['known'] < 0.5 then 'the zone had a price in less than half of the ' || span['days'] || ' days'
        end as unknown_reason,
        coalesce('mean of ' || span['days'] || ' days', 'last seen, no mean') || ', ' || risk as offer_terms
    from zone
),

plain as (
    select
        p.*,
        decision.offer_terms(
            null, null, null, p.tier, p.fabric,
            nullif(concat_ws(', ', p.conditions, if(p.purchase_option = 'spot', 'last seen, no mean', null)), ''),
            p.statistic
        ) as offer_terms,
        'price' as price_kind
    from int.cost_price as p
    anti join zone as z on p.offer_id = z.offer_id
    where p.purchase_option not in ('reserved', 'savings_plan', 'capacity_block')
),

-- By numbers, as a row has many words.
cheapest_commitment as (
    select arg_min(offer_id, (not is_price_ranked, price_order)) as offer_id
    from listed
    where purchase_option in ('reserved', 'savings_plan', 'capacity_block')
    group by
        accelerator_name, form_factor, service_provider_name, purchase_option, commitment_discount_type,
        offering_class, commitment_term_hours, purchase_payment_model, network, tier, fabric, conditions,
        unit_accelerators, case when purchase_option = 'capacity_block' then instance_type end
),

commitment as (
    select
        *,
        'price' as price_kind,
        price_per_accelerator_hour_usd
        / cost.usable_share(service_provider_name, purchase_option, commitment_term_hours, instance_type) as price_usd,
        decision.offer_terms(
            commitment_discount_type, offering_class, purchase_payment_model, tier, fabric, conditions,
            if(
                purchase_option = 'capacity_block' and service_provider_name = 'AWS',
                'per usable hour of a block of '
                || coalesce(commitment_term_hours || ' hours', '24 hours (length assumed)'), null
            )
        ) as offer_terms
    from listed
    where offer_id in (select c.offer_id from cheapest_commitment as c)
),

offered as (
    from plain
    union all by name
    from spot_window
    union all by name
    from commitment
),

-- What AWS sells of a chip that it has on demand: by option, kind of plan and term.
on_demand as (
    from plain
    where service_provider_name = 'AWS' and purchase_option = 'on_demand'
    qualify
        row_number() over (
            partition by accelerator_name, chip_form_factor
            order by is_price_ranked desc, price_usd asc, offer_id asc
        ) = 1
),

reason as (
    select
        purchase_option,
        commitment_discount_type,
        instance_type,
        if(bool_or(starts_with(unknown_reason, 'not collected')), null, min(unknown_reason)) as unknown_reason
    from int.aws_purchase_options
    where unknown_reason is not null
    group by purchase_option, commitment_discount_type, instance_type
),

every as (
    from offered
    union all by name
    select
        d.accelerator_name,
        d.form_factor,
        d.chip_form_factor,
        d.unit_accelerators,
        d.network,
        d.service_provider_name,
        d.instance_type,
        k.option_wanted as purchase_option,
        k.class_wanted as commitment_class,
        k.discount_wanted as commitment_discount_type,
        k.discount_wanted || ' plan' as offer_terms,
        'price' as price_kind,
        coalesce(r.unknown_reason, 'not collected yet') as unknown_reason,
        false as is_price_ranked
    from on_demand as d
    cross join (
        values
        ('savings_plan', 'Compute', 'one_year'), ('savings_plan', 'Compute', 'three_years'),
        ('savings_plan', 'EC2Instance', 'one_year'), ('savings_plan', 'EC2Instance', 'three_years'),
        ('spot', null, 'interruptible'), ('capacity_block', null, 'under_a_year')
    ) as k (option_wanted, discount_wanted, class_wanted)
    left join reason as r
        on
            d.instance_type = r.instance_type and k.option_wanted = r.purchase_option
            and k.discount_wanted is not distinct from r.commitment_discount_type
    anti join offered as f
        on
            d.service_provider_name = f.service_provider_name and d.accelerator_name = f.accelerator_name
            and d.chip_form_factor is not distinct from f.chip_form_factor and k.option_wanted = f.purchase_option
            and k.discount_wanted is not distinct from f.commitment_discount_type
            and k.class_wanted = f.commitment_class
    where
        k.option_wanted <> 'capacity_block'
        or regexp_matches(d.instance_type, '^(p4d|p4de|p5|p5e|p5en|p6-b200|p6-b300|p6e-gb200|trn1|trn2)[.]')
)

select
    e.accelerator_name,
    e.form_factor,
    e.chip_form_factor,
    e.unit_accelerators,
    e.network,
    e.service_provider_name,
    e.region_id,
    e.instance_type,
    e.purchase_option,
    e.commitment_class,
    e.commitment_discount_type,
    e.offer_terms,
    e.price_kind,
    e.price_usd,
    e.interruption_band,
    e.lost_share,
    e.unknown_reason,
    d.price_usd as on_demand_price_usd,
    e.is_price_ranked,
    e.is_sold_out,
    e.age_days,
    e.last_observed_at,
    e.evidence_kind,
    e.document_sha256,
    e.offer_id
from every as e
left join on_demand as d
    on
        e.service_provider_name = 'AWS' and e.accelerator_name = d.accelerator_name
        and e.chip_form_factor is not distinct from d.chip_form_factor
