-- What a million output tokens cost at best, by day: at each operating point of int.token_rate_history on each chip,
-- and on whichever chip was the cheapest (accelerator_name all chips), under each purchase option and commitment
-- class, by the prices of int.option_price_history on that day and the runs known by then, at full load.
-- One row for each day from which another cost held, to valid_to; the cost of any day is in the row with valid_from <=
-- day < valid_to. NULL: no price was then known that may be ranked.
-- step_log is the log of the cost by the last one known before; it is the sum of three parts:
--   evidence_effect  what new runs did: the prices of the row before at the rates known now, by the cost before
--   price_effect     what prices did to the chips that had a cost before, at the rates known now
--   new_chip_effect  what chips did that had no cost before; of one chip it is 0
-- exp(part) - 1 is the share by which the cost moved for that reason.
with own as (
    select distinct
        { 'point': r.point_number, 'option': p.purchase_option, 'class': p.commitment_class } as market,
        r.accelerator_name,
        r.unit_key,
        greatest(r.known_from, p.valid_from) as valid_from
    from int.token_rate_history as r
    inner join int.option_price_history as p on r.unit_key = p.unit_key
    where p.commitment_class is not null
),

-- Days on which a price or a rate of a chip's units changed.
chip_day as (
    select distinct
        market,
        accelerator_name,
        valid_from
    from own
),

unit as (
    select distinct
        market,
        accelerator_name,
        unit_key
    from own
),

unit_cost as (
    select
        d.*,
        u.unit_key,
        p.price_usd,
        p.offer_id,
        r.output_rate_per_paid_accelerator as rate,
        r.throughput_id,
        cost.usd_per_million_tokens(p.price_usd, 1, r.output_rate_per_paid_accelerator, 1) as usd
    from chip_day as d
    inner join unit as u
        on d.market = u.market and d.accelerator_name = u.accelerator_name
    asof inner join int.option_price_history as p
        on
            u.unit_key = p.unit_key and d.market.option = p.purchase_option and d.market.class = p.commitment_class
            and d.valid_from >= p.valid_from
    asof inner join int.token_rate_history as r
        on d.market.point = r.point_number and u.unit_key = r.unit_key and d.valid_from >= r.known_from
),

chip_step as (
    select
        market,
        accelerator_name,
        valid_from,
        arg_min(
            {
                'usd': usd, 'price_usd': price_usd, 'rate': rate, 'unit_key': unit_key, 'offer_id': offer_id,
                'throughput_id': throughput_id
            },
            (usd, unit_key)
        ) filter (where usd is not null) as best
    from unit_cost
    group by market, accelerator_name, valid_from
    window w as (partition by market, accelerator_name order by valid_from)
    qualify row_number() over w = 1 or best is distinct from lag(best) over w
),

-- Each chip is a series of its own, and all of them are one.
series as (
    select distinct
        market,
        unnest([accelerator_name, 'all chips']) as series_name,
        accelerator_name
    from chip_step
),

series_day as (
    select distinct
        s.market,
        s.series_name,
        c.valid_from
    from series as s
    inner join chip_step as c
        on s.market = c.market and s.accelerator_name = c.accelerator_name
),

state as (
    select
        s.*,
        d.valid_from,
        c.best
    from series_day as d
    inner join series as s
        on d.market = s.market and d.series_name = s.series_name
    asof inner join chip_step as c
        on s.market = c.market and s.accelerator_name = c.accelerator_name and d.valid_from >= c.valid_from
),

best as (
    select
        market,
        series_name,
        valid_from,
        arg_min({ 'chip': accelerator_name, 'of': best }, (best['usd'], accelerator_name)) filter (
            where best['usd'] is not null
        ) as best
    from state
    group by all
),

step as (
    from best
    window w as (partition by market, series_name order by valid_from)
    qualify row_number() over w = 1 or best['of']['usd'] is distinct from lag(best['of']['usd']) over w
),

paired as (
    select
        *,
        best['of']['usd'] as usd,
        lead(valid_from) over w as valid_to,
        -- The last row before with a cost.
        max({ 'day': valid_from, 'usd': best['of']['usd'] }) filter (where best['of']['usd'] is not null) over (
            partition by market, series_name
            order by valid_from
            rows between unbounded preceding and 1 preceding
        ) as last_known
    from step
    window w as (partition by market, series_name order by valid_from)
),

-- What each chip that had a cost before costs now, and what it would at its price of then.
moved as (
    select
        n.market,
        n.series_name,
        n.valid_from,
        a.best['unit_key'] as unit_key,
        a.best['price_usd'] as price_before,
        b.best['usd'] as usd
    from paired as n
    inner join state as a
        on n.market = a.market and n.series_name = a.series_name and n.last_known.day = a.valid_from
    inner join state as b
        on
            n.market = b.market and n.series_name = b.series_name and a.accelerator_name = b.accelerator_name
            and n.valid_from = b.valid_from
    where n.usd is not null and a.best['usd'] is not null
),

held as (
    select
        m.market,
        m.series_name,
        m.valid_from,
        min(cost.usd_per_million_tokens(m.price_before, 1, r.output_rate_per_paid_accelerator, 1)) as usd_at_old_prices,
        min(m.usd) as usd_of_old_chips
    from moved as m
    asof inner join int.token_rate_history as r
        on m.market.point = r.point_number and m.unit_key = r.unit_key and m.valid_from >= r.known_from
    group by all
),

point as (
    select distinct * exclude (accelerator_name, unit_key, known_from, output_rate_per_paid_accelerator, throughput_id)
    from int.token_rate_history
)

select
    t.* exclude (t.point_number), -- noqa: AM04
    p.series_name as accelerator_name,
    p.best['chip'] as best_accelerator_name,
    p.market.option as purchase_option,
    p.market.class as commitment_class,
    p.valid_from,
    p.valid_to,
    p.usd as usd_per_million_output_tokens,
    p.best['of']['price_usd'] as price_usd,
    p.best['of']['rate'] as output_rate_per_paid_accelerator,
    ln(p.usd / p.last_known.usd) as step_log,
    ln(coalesce(h.usd_of_old_chips, h.usd_at_old_prices) / h.usd_at_old_prices) as price_effect,
    ln(h.usd_at_old_prices / p.last_known.usd) as evidence_effect,
    ln(p.usd / coalesce(h.usd_of_old_chips, h.usd_at_old_prices)) as new_chip_effect,
    p.best['of']['throughput_id'] as throughput_id,
    p.best['of']['offer_id'] as offer_id
from paired as p
inner join point as t on p.market.point = t.point_number
left join held as h
    on p.market = h.market and p.series_name = h.series_name and p.valid_from = h.valid_from
