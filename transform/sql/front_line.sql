-- The front page's lines of a chip over time, in US dollars per chip-hour on demand: one row for each span in which a
-- line is level. AWS is the list price of the offer of int.front_cell; lowest and median are of all other providers,
-- each at its lowest, by the rule of int.front_cell asked at the end of every seventh day before the file's own date,
-- so that their last values are those of the front page. Where no price was confirmed within the limit of age a line
-- has a gap.
with point as (
    select
        b.built_at - to_days(7 * s.n::INTEGER) as moment,
        b.ranked_days,
        b.marketplace_days
    from meta.build as b
    cross join range(0, 209) as s (n)
),

form as (
    select
        accelerator_name,
        form_factor,
        offer_id
    from int.front_cell
    where cell = 'aws_on_demand'
),

other as (
    select
        u.accelerator_name,
        o.service_provider_name,
        o.pricing_currency,
        h.valid_from,
        h.valid_to,
        h.last_observed_at,
        m.service_provider_name is not null as is_market,
        h.effective_hourly_price / u.accelerator_count::DOUBLE as price
    from core.offer_unit as u
    inner join core.offer as o on u.offer_id = o.offer_id
    inner join int.price_history as h on u.offer_id = h.offer_id
    left join form as f on u.accelerator_name = f.accelerator_name
    left join core.market as m on o.service_provider_name = m.service_provider_name
    where
        o.service_provider_name <> 'AWS'
        and o.purchase_option = 'on_demand'
        and o.unit_price_type = 'List'
        and o.restriction is null
        and o.statistic not in ('floor', 'median')
        and h.effective_hourly_price > 0
        and (
            f.form_factor is null
            or u.form_factor = f.form_factor
            or (u.form_factor is null and u.accelerator_name in ('B200', 'B300'))
        )
),

at_provider as (
    select
        o.accelerator_name,
        o.service_provider_name,
        p.moment,
        min(
            o.price * case
                when o.pricing_currency = 'USD' then 1
                when least(p.moment, o.last_observed_at)::DATE - r.rate_date <= 10 then r.usd_per_currency_unit
            end::DOUBLE
        ) as price_usd
    from other as o
    inner join point as p
        on
            o.valid_from <= p.moment and (o.valid_to > p.moment or o.valid_to is null)
            and o.last_observed_at >= p.moment
            - to_days(case when o.is_market then p.marketplace_days else p.ranked_days end)
    asof left join core.usd_rate as r
        on o.pricing_currency = r.pricing_currency and least(p.moment, o.last_observed_at)::DATE >= r.rate_date
    group by o.accelerator_name, o.service_provider_name, p.moment
    having price_usd is not null
),

gathered as (
    select
        accelerator_name,
        moment,
        lead(moment) over (partition by accelerator_name order by moment) as next_moment,
        unnest(['lowest', 'median']) as line_name,
        unnest([min(price_usd), median(price_usd)]) as price_usd
    from at_provider
    group by accelerator_name, moment
)

select
    accelerator_name,
    line_name,
    moment as begins_at,
    case when next_moment - moment <= interval 8 days then next_moment else moment end as ends_at,
    price_usd as price_per_accelerator_hour_usd
from gathered
union all
select
    f.accelerator_name,
    'AWS' as line_name,
    h.valid_from as begins_at,
    coalesce(h.valid_to, b.built_at) as ends_at,
    h.effective_hourly_price / u.accelerator_count::DOUBLE as price_per_accelerator_hour_usd
from form as f
inner join int.price_history as h on f.offer_id = h.offer_id
inner join core.offer_unit as u on f.offer_id = u.offer_id
cross join meta.build as b
where h.effective_hourly_price is not null
order by all
