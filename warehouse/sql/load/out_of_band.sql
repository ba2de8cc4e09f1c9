-- New prices of known chips outside the range of all providers at comparable terms (price_band), in US dollars per
-- chip-hour; of imports also outside a third and 3 times what other sources say of their provider, but for spot and
-- $marketplaces. One whose former price was outside too, near it, is nothing new; unknown chips and rates judge none.
with candidate as (
    select
        r.*,
        starts_with(r.source, 'import:') as is_import,
        k.row_number is not null as is_known,
        k.unit_price as known_unit_price
    from differing_row as r
    left join known_price as k on r.row_number = k.row_number
    where not r.is_past_gates and r.row_number >= 0 and r.unit_price is distinct from k.unit_price
),

-- Found first: on most days nothing was imported, and no offer of the log is asked for.
charging as (
    select o.* -- noqa: AM04
    from core.offer as o
    semi join candidate as c on o.service_provider_name = c.service_provider_name and c.is_import
),

every as (
    from candidate
    union all by name
    select
        o.*,
        s.unit_price,
        s.upfront_price
    from offer_state as s
    inner join charging as o on s.offer_id = o.offer_id
    where
        s.is_plain and o.purchase_option <> 'spot'
        and not starts_with(s.source, 'import:')
        and not list_contains($marketplaces, lower(o.service_provider_name))
),

priced as (
    select
        r.row_number,
        r.is_known,
        r.is_import,
        r.service_provider_name,
        coalesce(t.accelerator_name, l.accelerator_name) as accelerator_name,
        case r.purchase_option
            when 'savings_plan' then 'reserved' when 'capacity_block' then 'on_demand' else r.purchase_option
        end as purchase_option,
        (r.unit_price / r.known_unit_price)::DOUBLE as moved_by,
        coalesce(r.accelerator_count * if(t.instance_type is null, l.accelerator_share, 1), t.accelerator_count) as n,
        case r.pricing_unit when 'Minutes' then 60 when 'Months' then 1 / 730 else 1 end::DOUBLE
        * case when r.pricing_currency = 'USD' then 1 else u.usd end
        / n::DOUBLE as scale,
        coalesce(r.unit_price, 0)::DOUBLE as hourly,
        coalesce(r.upfront_price / nullif(r.commitment_term_hours, 0), 0)::DOUBLE as upfront,
        r.known_unit_price::DOUBLE as known_hourly
    from every as r
    left join core.instance_type as t
        on
            case when r.service_provider_name = 'AWS' then regexp_replace(r.instance_type, '^ml[.]', '') end
            = t.instance_type
            and t.known_from is null
    left join label_chip as l
        on r.service_provider_name = l.service_provider_name and r.accelerator_label = l.accelerator_label
    left join last_rate as u on r.pricing_currency = u.pricing_currency
    where
        r.unit_price_type = 'List'
        and coalesce(r.unit_price, r.upfront_price) is not null -- not offered from here on
),

compared as (
    select
        p.*,
        p.scale * (p.hourly + p.upfront) as price,
        p.scale * (p.known_hourly + p.upfront) as known_price,
        coalesce(own.limit_low, general.limit_low / 5) as band_low,
        coalesce(own.limit_high, general.limit_high) as band_high,
        if(p.row_number is null, price, null) as charge,
        greatest(band_low, if(p.is_import, min(charge) over charged / 3, null)) as limit_low,
        least(band_high, if(p.is_import, max(charge) over charged * 3, null)) as limit_high
    from priced as p
    left join price_band as own
        on p.accelerator_name = own.accelerator_name and p.purchase_option = own.purchase_option
    left join price_band as general
        on p.accelerator_name = general.accelerator_name and general.purchase_option = 'on_demand'
    window charged as (partition by p.service_provider_name, p.accelerator_name, p.purchase_option)
)

select
    row_number,
    is_known,
    accelerator_name,
    purchase_option,
    price,
    limit_low,
    limit_high,
    if(price between band_low and band_high, service_provider_name, null) as charged_by
from compared
where
    row_number is not null
    and not price between limit_low and limit_high
    and coalesce(known_price between limit_low and limit_high or not moved_by between 0.5 and 2, true)
order by row_number
