-- Who asks least for one chip, each way to buy it apart: the cheapest standing list price of each provider on each
-- terms of int.provider_price. price_rank 1 is the cheapest of its form, purchase option and commitment class; prices
-- beyond the limit of age have no rank and come last, with their age. "From" prices, which nobody may be offered, are
-- left out, and so is who tells only a median. An unknown chip is an error, no empty answer.
with known as (
    select accelerator_name from core.offer_unit
    union
    select accelerator_name from ref.accelerator
    union
    select accelerator_name from ref.instance_type
),

parameter as (
    select
        any_value(accelerator_name) filter (where lower(accelerator_name) = lower(chip)) as chip_named,
        max_by(accelerator_name, jaro_winkler_similarity(lower(chip), lower(accelerator_name)), 3) as nearest,
        coalesce(chip_named, error(concat(
            'cheapest: no chip is named ', any_value(chip), '; the nearest: ', array_to_string(nearest, ', ')
        ))) as known_chip
    from known
)

select
    p.accelerator_name,
    p.purchase_option,
    p.commitment_class,
    p.price_rank,
    p.service_provider_name,
    p.cheapest_price_usd,
    p.form_factor,
    p.capacity_class,
    p.fabric,
    p.tier,
    p.region_id,
    p.instance_type,
    p.price_per_accelerator_hour,
    p.pricing_currency,
    p.fx_rate_date,
    p.statistic,
    p.is_current,
    p.is_ranked,
    p.age_days,
    p.last_observed_at,
    p.source,
    p.document_sha256,
    p.offer_id
from int.provider_price as p
inner join parameter as a on p.accelerator_name = a.known_chip
where not p.is_floor and p.cheapest_price_usd is not null
order by p.purchase_option, p.commitment_class, p.price_rank nulls last, p.cheapest_price_usd, p.offer_id
