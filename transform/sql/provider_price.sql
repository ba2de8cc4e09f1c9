-- What each provider asks for each chip now, in US dollars per chip-hour, beside AWS at the same terms.
-- One row per chip, form factor, provider, purchase option, commitment class, capacity class, tier and kind of amount;
-- of several regions, sizes and hosts the cheapest and the median. Prices that nobody new can have (grandfathered,
-- announced) and negotiated ones are left out. What is not current is there, with its age.
--   commitment_class  none (on demand), interruptible (spot), under_a_year (shorter terms and Capacity Blocks),
--                     one_year, three_years; NULL where the length is not stated
--   is_floor          a "from" price: the least that anybody pays, which nobody may be offered
-- Of a marketplace the cheapest is the 25th percentile over its machines, the median their median.
-- AWS's price is its cheapest at the same chip, commitment class and capacity class, whatever the purchase option of
-- the commitment, current if it can be. There is none where the capacity class is not stated, nor for PCIe and NVL forms
-- of chips that AWS has on NVSwitch boards only (p4d, p4de, p5, p5e, p5en:
-- https://aws.amazon.com/ec2/instance-types/p5/).
with listed as (
    select
        *,
        statistic = 'floor' as is_floor,
        case
            when purchase_option = 'on_demand' then 'none'
            when purchase_option = 'spot' then 'interruptible'
            when purchase_option = 'capacity_block' or commitment_term_hours < 8760 then 'under_a_year'
            when commitment_term_hours < 26280 then 'one_year'
            when commitment_term_hours >= 26280 then 'three_years'
        end as commitment_class
    from mart.accelerator_hour_price
    where
        unit_price_type = 'List'
        and restriction is null
        and accelerator_name is not null
        and price_per_accelerator_hour_usd is not null
),

grouped as (
    select
        accelerator_name,
        form_factor,
        service_provider_name,
        purchase_option,
        commitment_class,
        capacity_class,
        tier,
        is_floor,
        count(*) as n_offers,
        count(*) filter (where is_current) as n_current,
        coalesce(
            median(price_per_accelerator_hour_usd) filter (where statistic = 'median' and is_current),
            median(price_per_accelerator_hour_usd) filter (where statistic <> 'p25' and is_current),
            median(price_per_accelerator_hour_usd) filter (where statistic = 'median'),
            median(price_per_accelerator_hour_usd) filter (where statistic <> 'p25')
        ) as median_price_usd,
        arg_min(
            {
                'price': price_per_accelerator_hour_usd,
                'native': price_per_accelerator_hour,
                'currency': pricing_currency,
                'host': host_provider_name,
                'region': region_id,
                'instance_type': instance_type,
                'statistic': statistic,
                'observed': last_observed_at,
                'changed': valid_from,
                'age': age_days,
                'is_current': is_current,
                'source': source,
                'document': document_sha256,
                'offer': offer_id
            },
            (not is_current, price_per_accelerator_hour_usd, offer_id)
        ) filter (where statistic <> 'median') as cheapest,
        max(age_days) as oldest_age_days
    from listed
    where
        service_provider_name <> 'AWS' or (conditions is null and instance_type not like 'ml.%')
    group by all
),

aws as (
    select
        g.accelerator_name,
        g.commitment_class,
        g.capacity_class,
        arg_min(
            {
                'price': g.cheapest.price,
                'instance_type': g.cheapest.instance_type,
                'region': g.cheapest.region,
                'option': g.purchase_option,
                'is_current': g.cheapest.is_current
            },
            (not g.cheapest.is_current, g.cheapest.price, g.cheapest.offer)
        ) as best
    from grouped as g
    where g.service_provider_name = 'AWS' and g.capacity_class is not null and g.commitment_class is not null
    group by g.accelerator_name, g.commitment_class, g.capacity_class
)

select
    g.accelerator_name,
    g.form_factor,
    g.service_provider_name,
    g.cheapest.host as host_provider_name,
    g.purchase_option,
    g.commitment_class,
    g.capacity_class,
    g.tier,
    g.is_floor,
    g.n_offers,
    g.n_current,
    g.cheapest.price as cheapest_price_usd,
    g.median_price_usd,
    g.cheapest.statistic,
    g.cheapest.native as price_per_accelerator_hour,
    g.cheapest.currency as pricing_currency,
    g.cheapest.region as region_id,
    g.cheapest.instance_type,
    a.best.price as aws_price_usd,
    a.best.option as aws_purchase_option,
    a.best.instance_type as aws_instance_type,
    a.best.region as aws_region_id,
    a.best.is_current as aws_is_current,
    g.cheapest.price / a.best.price - 1 as distance_to_aws,
    g.cheapest.is_current,
    g.cheapest.age as age_days,
    g.oldest_age_days,
    g.cheapest.changed as valid_from,
    g.cheapest.observed as last_observed_at,
    g.cheapest.source,
    g.cheapest.document as document_sha256,
    g.cheapest.offer as offer_id
from grouped as g
left join aws as a
    on
        g.service_provider_name <> 'AWS'
        and g.accelerator_name = a.accelerator_name
        and g.commitment_class = a.commitment_class
        and g.capacity_class = a.capacity_class
        and not (
            g.form_factor in ('PCIe', 'NVL')
            and g.accelerator_name in ('A100', 'A100-40GB', 'A100-80GB', 'H100', 'H200', 'B200', 'B300')
        )
