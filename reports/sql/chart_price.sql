-- What each provider's cheapest offer of a chip and tier cost over time, in US dollars per chip-hour: one row for each
-- span in which it is known to have stayed the same (reports/sql/chart_held.sql), from begins_at to ends_at, of the
-- chips of $chips under the purchase options of $options. Where nobody knows a price there is no row;
-- what was seen in the last week, or within the source's max_age, holds to the end.
-- list_change_ratio is what int.price_change says of the move with which a span began, where it was of this price
-- alone and not another offer that became the cheapest.
-- Left out are floors, medians, what nobody new can have, negotiated prices, prices that int.price_change calls a
-- mistake that was undone, SageMaker, and AWS partitions apart. Other currencies are converted at the rate of the day
-- on which the price was last seen, so that a rate alone makes no step.
with doubtful as (
    select
        offer_id,
        observed_at,
        change_kind in ('correction', 'suspected_error') as is_doubtful
    from int.price_change
),

told as (
    select
        h.offer_id,
        o.service_provider_name,
        u.accelerator_name,
        u.form_factor,
        o.purchase_option,
        o.tier,
        h.valid_from,
        h.last_observed_at,
        h.valid_to,
        h.held_until,
        h.held_for,
        h.effective_hourly_price / u.accelerator_count::DOUBLE as hourly,
        o.pricing_currency
    from chart_held as h
    inner join core.offer as o on h.offer_id = o.offer_id
    inner join core.offer_unit as u on h.offer_id = u.offer_id
    left join doubtful as b on h.offer_id = b.offer_id and h.valid_from = b.observed_at
    left join doubtful as e on h.offer_id = e.offer_id and h.valid_to = e.observed_at
    where
        u.accelerator_name in (select unnest($chips))
        and o.purchase_option in (select unnest($options))
        and u.accelerator_count > 0
        and o.unit_price_type = 'List'
        and o.restriction is null
        and o.statistic not in ('floor', 'median')
        and h.effective_hourly_price > 0
        and h.valid_from < $until
        and not (coalesce(b.is_doubtful, false) and coalesce(e.is_doubtful, false))
        and (
            o.service_provider_name <> 'AWS'
            or (
                coalesce(o.instance_type, '') not like 'ml.%'
                and not regexp_matches(coalesce(o.region_id, ''), '^(cn|us-gov|us-iso[a-z]*|eu-iso[a-z]*|eusc)-')
                and (o.conditions is null or o.purchase_option = 'capacity_block')
            )
        )
),

span as (
    select
        t.offer_id,
        t.service_provider_name,
        t.accelerator_name,
        t.form_factor,
        t.purchase_option,
        t.tier,
        greatest(t.valid_from, $since) as begins_at,
        case
            when t.valid_to is null and t.last_observed_at >= $until - t.held_for then $until
            else t.held_until
        end as ends_at,
        t.hourly * case
            when t.pricing_currency = 'USD' then 1
            when t.last_observed_at::DATE - r.rate_date <= 10 then r.usd_per_currency_unit
        end::DOUBLE as price_usd
    from told as t
    asof left join core.usd_rate as r
        on t.pricing_currency = r.pricing_currency and t.last_observed_at::DATE >= r.rate_date
),

shown as (
    select *
    from span
    where ends_at > $since and begins_at < $until and price_usd is not null
),

boundary as (
    select
        service_provider_name,
        accelerator_name,
        form_factor,
        purchase_option,
        tier,
        begins_at as bound_at
    from shown
    union
    select
        service_provider_name,
        accelerator_name,
        form_factor,
        purchase_option,
        tier,
        ends_at as bound_at
    from shown
),

priced as (
    select
        b.service_provider_name,
        b.accelerator_name,
        b.form_factor,
        b.purchase_option,
        b.tier,
        b.bound_at,
        min(s.price_usd) as price_usd,
        arg_min(s.offer_id, (s.price_usd, s.offer_id)) as offer_id
    from boundary as b
    left join shown as s
        on
            b.service_provider_name = s.service_provider_name
            and b.accelerator_name = s.accelerator_name
            and b.form_factor is not distinct from s.form_factor
            and b.purchase_option = s.purchase_option
            and b.tier is not distinct from s.tier
            and b.bound_at >= s.begins_at
            and b.bound_at < s.ends_at
    group by b.service_provider_name, b.accelerator_name, b.form_factor, b.purchase_option, b.tier, b.bound_at
),

compared as (
    select
        *,
        lag(price_usd) over w as previous_usd
    from priced
    window w as (
        partition by service_provider_name, accelerator_name, form_factor, purchase_option, tier order by bound_at
    )
),

spell as (
    select
        * exclude (previous_usd),
        lead(bound_at) over w as ends_at,
        lag(price_usd) over w as price_before_usd
    from compared
    where price_usd is distinct from previous_usd
    window w as (
        partition by service_provider_name, accelerator_name, form_factor, purchase_option, tier order by bound_at
    )
),

listed as (
    select
        offer_id,
        observed_at,
        any_value(change_ratio) as change_ratio
    from int.price_change
    where change_kind = 'list_change'
    group by offer_id, observed_at
)

select
    s.accelerator_name,
    s.form_factor,
    s.purchase_option,
    s.service_provider_name,
    s.tier,
    s.bound_at as begins_at,
    least(s.ends_at, $until) as ends_at,
    s.price_usd,
    case
        when coalesce(abs(s.price_usd / s.price_before_usd - 1 - l.change_ratio) < 0.005, true) then l.change_ratio
    end as list_change_ratio
from spell as s
left join listed as l on s.offer_id = l.offer_id and s.bound_at = l.observed_at
where s.price_usd is not null and s.ends_at > s.bound_at
order by s.accelerator_name, s.form_factor, s.purchase_option, s.service_provider_name, s.tier, s.bound_at
