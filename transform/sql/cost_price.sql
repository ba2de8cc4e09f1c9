-- What each provider asks for chips, as costs are computed with it: one row per chip, form, provider, purchase option,
-- commitment class, capacity class, fabric, tier and number of chips that must be taken at once, over the regions,
-- hosts and terms of payment of int.listed_price. price_usd is that of the offer named, the cheapest of them; prices
-- that are ranked count, or where there are none those confirmed within 30 days of the newest. price_rank is that of
-- int.provider_price, which ranks the cheapest size of a class.
-- No "from" prices. The chip is that of ref.accelerator of the same name, and the same form or one for all forms; a
-- form that is not stated is not guessed, and has no row here. A price per chip that says nothing of how many must be
-- taken counts as one chip, and so prices only what was measured on one.
with priced as materialized (
    select
        p.*,
        { 'terms': p.price_terms, 'unit_accelerators': p.unit_accelerators, 'network': p.network } as size,
        c.form_factor as chip_form_factor
    from int.listed_price as p
    inner join ref.accelerator as c
        on p.accelerator_name = c.accelerator_name and (p.form_factor = c.form_factor or c.form_factor is null)
    where p.statistic <> 'floor' and p.price_per_accelerator_hour_usd > 0
),

newest as (
    select
        size,
        bool_or(is_ranked) as has_ranked,
        max(last_observed_at) as newest_at
    from priced
    group by size
),

cheapest as (
    select
        arg_min(p.offer_id, p.price_order) as offer_id,
        case when bool_and(p.statistic = 'price') then max(p.price_per_accelerator_hour_usd) end as high_price_usd,
        count(*) as n_offers
    from priced as p
    inner join newest as n on p.size is not distinct from n.size
    where p.is_ranked or (not n.has_ranked and p.last_observed_at >= n.newest_at - interval 30 days)
    group by p.size
)

select
    p.accelerator_name,
    p.form_factor,
    p.chip_form_factor,
    p.service_provider_name,
    p.host_provider_name,
    p.purchase_option,
    p.commitment_class,
    p.capacity_class,
    p.fabric,
    p.tier,
    p.region_id,
    p.instance_type,
    p.unit_accelerators,
    p.network,
    p.price_per_accelerator_hour_usd as price_usd,
    case when p.statistic <> 'median' then price_usd end as low_price_usd,
    c.high_price_usd,
    case
        when p.statistic = 'median' then 'the median alone is stated'
        when p.statistic = 'p25' then 'from the 25th percentile; the dearest is not stated'
        when c.high_price_usd is null then 'from the cheapest offer; the dearest is not stated'
        when c.high_price_usd = price_usd then 'one price'
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
    cost.usable_share(p.service_provider_name, p.purchase_option, p.commitment_term_hours, p.instance_type)
        as usable_share,
    c.n_offers,
    r.price_rank,
    p.is_current,
    p.is_ranked and not p.is_sold_out as is_price_ranked,
    p.is_sold_out,
    p.statistic,
    p.conditions,
    p.age_days,
    p.valid_from,
    p.last_observed_at,
    p.source,
    p.evidence_kind,
    p.document_sha256,
    p.offer_id
from cheapest as c
inner join priced as p on c.offer_id = p.offer_id
left join int.provider_price as r on p.offer_id = r.offer_id
