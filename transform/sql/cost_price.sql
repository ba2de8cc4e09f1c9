-- What each provider asks for chips, as costs are computed with it: int.provider_price with the size of a purchase.
-- One row per row of it that has a median price, so no "from" prices. The chip is that of ref.accelerator of the same
-- name, and the same form or one for all forms; a form that is not stated is not guessed, and has no row here.
-- A price per chip that says nothing of how many must be taken counts as one chip, and so prices only what was measured
-- on one.
select
    p.accelerator_name,
    p.form_factor,
    c.form_factor as chip_form_factor,
    p.service_provider_name,
    p.host_provider_name,
    p.purchase_option,
    p.commitment_class,
    p.capacity_class,
    p.fabric,
    p.tier,
    p.region_id,
    p.instance_type,
    (o.accelerator_count * coalesce(o.minimum_quantity, 1))::DOUBLE as unit_accelerators,
    cost.network(p.capacity_class, p.service_provider_name, unit_accelerators, p.instance_type) as network,
    p.cheapest_price_usd as low_price_usd,
    p.median_price_usd,
    p.dearest_price_usd as high_price_usd,
    case
        when p.cheapest_price_usd is null then 'the median alone is stated'
        when p.statistic = 'p25' then 'from the 25th percentile; the dearest is not stated'
        when p.dearest_price_usd is null then 'from the cheapest offer; the dearest is not stated'
        when p.dearest_price_usd = p.cheapest_price_usd then 'one price'
        else 'from the cheapest to the dearest offer'
    end as price_range_basis,
    concat_ws(
        '; ',
        case
            when p.purchase_option = 'on_demand' then 'paid by the hour'
            when p.purchase_option = 'spot' then 'as if never interrupted: the least that it can be'
            when p.purchase_option = 'capacity_block' and p.service_provider_name = 'AWS'
                then 'the last 30 (P6e-GB200: 60) minutes of a block, of 24 hours where none is stated, cannot be used'
            else 'as if every hour of the commitment ran'
        end,
        case when p.capacity_class is null then 'size of a purchase not stated, taken as one chip' end
    ) as price_basis,
    cost.usable_share(p.service_provider_name, p.purchase_option, o.commitment_term_hours, p.instance_type)
        as usable_share,
    p.n_offers,
    p.price_rank,
    p.is_current,
    p.is_ranked as is_price_ranked,
    p.age_days,
    p.valid_from,
    p.last_observed_at,
    p.source,
    p.document_sha256,
    p.offer_id
from int.provider_price as p
inner join ref.accelerator as c
    on p.accelerator_name = c.accelerator_name and (p.form_factor = c.form_factor or c.form_factor is null)
inner join int.accelerator_hour_price as o on p.offer_id = o.offer_id
where p.median_price_usd is not null
