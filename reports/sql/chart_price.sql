-- What each provider's cheapest offer of a chip and tier cost over time, in US dollars per chip-hour: one row for each
-- span in which it is known to have stayed the same (reports/sql/chart_held.sql), from begins_at to ends_at, of each
-- chip of $chips under the purchase option at its place in $options. Where nobody knows a price there is no row; what
-- was seen in the last week, or within the source's max_age, holds to the end. list_change_ratio is what
-- int.price_change says of the move with which a span began, where it was of this price alone and not another offer
-- that became the cheapest.
-- Left out are floors, medians, what nobody new can have, negotiated prices, prices that int.price_change calls a
-- mistake that was undone, SageMaker, and AWS partitions apart. Other currencies are converted at the rate of the day
-- on which the price was last seen, so that a rate alone makes no step.
with change as (
    select
        offer_id,
        observed_at,
        bool_or(change_kind in ('correction', 'suspected_error')) as is_doubtful,
        any_value(change_ratio) filter (where change_kind = 'list_change') as list_ratio
    from int.price_change
    where reason is null and observed_at >= $since::TIMESTAMP - interval 1 year
    group by offer_id, observed_at
),

known as (
    select
        h.*,
        {
            'accelerator_name': u.accelerator_name,
            'form_factor': u.form_factor,
            'purchase_option': o.purchase_option,
            'service_provider_name': o.service_provider_name,
            'tier': decision.sold_tier(o.tier)
        } as series,
        h.effective_hourly_price / u.accelerator_count::DOUBLE as hourly,
        o.pricing_currency
    from chart_held as h
    inner join core.offer as o on h.offer_id = o.offer_id
    inner join core.offer_unit as u on h.offer_id = u.offer_id
    left join change as b on h.offer_id = b.offer_id and h.valid_from = b.observed_at
    left join change as e on h.offer_id = e.offer_id and h.valid_to = e.observed_at
    where
        { 'chip': u.accelerator_name, 'option': o.purchase_option } in (
            select { 'chip': unnest($chips), 'option': unnest($options) }
        )
        and u.accelerator_count > 0
        and o.unit_price_type = 'List'
        and o.service_provider_name is not null
        and o.restriction is null
        and not decision.is_confidential(o.tier, o.instance_type)
        and o.statistic not in ('floor', 'median')
        and h.effective_hourly_price > 0
        and h.valid_from < $until
        and not (coalesce(b.is_doubtful, false) and coalesce(e.is_doubtful, false))
        and decision.is_open_to_all(o.service_provider_name, o.instance_type, o.region_id)
        and (o.service_provider_name <> 'AWS' or o.conditions is null or o.purchase_option = 'capacity_block')
),

shown as (
    select
        k.offer_id,
        k.series,
        greatest(k.valid_from, $since) as begins_at,
        if(k.valid_to is null and k.last_observed_at >= $until - k.held_for, $until, k.held_until) as ends_at,
        k.hourly * if(k.pricing_currency = 'USD', 1, r.usd_per_currency_unit)::DOUBLE as price_usd
    from known as k
    left join core.usd_rate_of_day as r
        on k.pricing_currency = r.pricing_currency and k.last_observed_at::DATE = r.rated_on
    where ends_at > $since and begins_at < $until and price_usd is not null
),

boundary as (
    select distinct
        series,
        unnest([begins_at, ends_at]) as bound_at
    from shown
),

priced as (
    select
        b.series,
        b.bound_at,
        min(s.price_usd) as price_usd,
        arg_min(s.offer_id, (s.price_usd, s.offer_id)) as offer_id,
        lag(min(s.price_usd)) over (partition by b.series order by b.bound_at) as previous_usd
    from boundary as b
    left join shown as s on b.series = s.series and b.bound_at >= s.begins_at and b.bound_at < s.ends_at
    group by b.series, b.bound_at
),

spell as (
    select
        * exclude (previous_usd),
        lead(bound_at) over w as ends_at,
        lag(price_usd) over w as price_before_usd
    from priced
    where price_usd is distinct from previous_usd
    window w as (partition by series order by bound_at)
)

select
    unnest(s.series), -- noqa: AL03
    s.bound_at as begins_at,
    least(s.ends_at, $until) as ends_at,
    s.price_usd,
    case
        when coalesce(abs(s.price_usd / s.price_before_usd - 1 - c.list_ratio) < 0.005, true) then c.list_ratio
    end as list_change_ratio
from spell as s
left join change as c on s.offer_id = c.offer_id and s.bound_at = c.observed_at
where s.price_usd is not null and s.ends_at > s.bound_at
order by s.series, s.bound_at
