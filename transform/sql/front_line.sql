-- The front page's lines of a chip over time, in US dollars per chip-hour on demand: one row for each span in which a
-- line is level. AWS is the list price of the offer of int.front_cell; lowest and median are of all other providers,
-- each at its lowest, by the rule of int.front_cell asked at the end of every seventh day before the file's own date,
-- so that their last values are those of the front page. Where fewer than three providers (or than ever were at once)
-- have a price confirmed within the limit of age there is a gap: one alone is not the market.
-- Prices are read of the four years that these days are of.
with form as (
    select
        c.accelerator_name,
        o.*
    from int.front_cell as c
    inner join core.offer as o on c.offer_id = o.offer_id
    where c.cell = 'aws_on_demand'
),

other as (
    select
        u.accelerator_name,
        o.service_provider_name,
        o.pricing_currency,
        h.valid_from,
        h.valid_to,
        h.last_observed_at,
        least(
            decision.ranked_days(
                m.service_provider_name is not null, o.purchase_option, null, b.ranked_days, b.marketplace_days
            ),
            if(a.is_replaced, 30, null)
        ) as max_days,
        core.hourly_price(h.unit_price, h.upfront_price, u.hours_per_pricing_unit, o.commitment_term_hours)
            as hourly_price,
        hourly_price / u.accelerator_count::DOUBLE as price
    from log.price_link as h
    inner join core.offer as o on h.offer_no = o.offer_no
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    left join int.front_cell as f on u.accelerator_name = f.accelerator_name and f.cell = 'aws_on_demand'
    left join core.market as m on o.service_provider_name = m.service_provider_name
    left join int.accelerator_hour_price as a on case when h.valid_to is null then o.offer_id end = a.offer_id
    cross join meta.build as b
    where
        o.service_provider_name <> 'AWS'
        and o.purchase_option = 'on_demand'
        and o.unit_price_type = 'List'
        and o.restriction is null
        and not decision.is_confidential(o.tier, o.instance_type)
        and o.statistic not in ('floor', 'median')
        and hourly_price > 0
        and (h.valid_to is null or h.valid_to > meta.built_at() - interval 1463 days)
        and (f.form_factor is null or decision.sold_form(u.accelerator_name, u.form_factor) = f.form_factor)
),

-- Every seventh day on which a price was known, of the 209 before the file's own date.
on_day as (
    select
        *,
        meta.built_at() - to_days(7 * unnest(range(
            greatest(
                0,
                (epoch_us(meta.built_at()) - epoch_us(valid_to)) // 604800000000 + 1,
                ceil((epoch(meta.built_at()) - epoch(last_observed_at)) / 604800 - max_days / 7)::BIGINT
            ),
            least(208, (epoch_us(meta.built_at()) - epoch_us(valid_from)) // 604800000000) + 1
        ))::INTEGER) as moment
    from other
    where valid_from <= meta.built_at()
),

-- By day before rates are read: a provider has many offers, and few currencies.
lowest as (
    select
        accelerator_name,
        service_provider_name,
        moment,
        pricing_currency,
        case when pricing_currency <> 'USD' then least(moment, last_observed_at)::DATE end as rated_on,
        min(price) as price
    from on_day
    group by all
),

at_provider as (
    select
        o.accelerator_name,
        o.service_provider_name,
        o.moment,
        min(o.price * if(o.pricing_currency = 'USD', 1, r.usd_per_currency_unit)::DOUBLE) as price_usd
    from lowest as o
    left join core.usd_rate_of_day as r on o.pricing_currency = r.pricing_currency and o.rated_on = r.rated_on
    group by o.accelerator_name, o.service_provider_name, o.moment
    having price_usd is not null
),

gathered as (
    select
        accelerator_name,
        moment,
        unnest(['lowest', 'median']) as line_name,
        unnest([min(price_usd), median(price_usd)]) as price_usd
    from at_provider
    group by accelerator_name, moment
    qualify count(*) >= least(3, max(count(*)) over (partition by accelerator_name))
)

select
    accelerator_name,
    line_name,
    moment as begins_at,
    coalesce(min(moment) over after_it, moment) as ends_at,
    price_usd as price_per_accelerator_hour_usd
from gathered
window
    after_it as (
        partition by accelerator_name, line_name order by moment
        range between interval 1 day following and interval 8 days following
    )
union all
select
    f.accelerator_name,
    'AWS' as line_name,
    h.valid_from as begins_at,
    coalesce(h.valid_to, meta.built_at()) as ends_at,
    core.hourly_price(h.unit_price, h.upfront_price, u.hours_per_pricing_unit, f.commitment_term_hours)
    / u.accelerator_count::DOUBLE as price_per_accelerator_hour_usd
from form as f
inner join log.price_link_of('form') as h on f.offer_no = h.offer_no
inner join core.offer_unit as u on f.offer_id = u.offer_id
where price_per_accelerator_hour_usd is not null
order by all
