-- What on-demand list prices (no marketplace's, nor what nobody new can have) did over so many months, or each of a
-- list of such numbers: one row per provider, chip and first of a month at which an offer was known, and known again
-- `months_asked` later: the mean over its offers of end_ratio, the price at the end / at the start, and of mean_ratio,
-- what was paid on the firsts in between by whom nothing bound / the price at the start. Means are of decimals, so that
-- the order of rows does not matter. Windows overlap, and the providers of a chip move together: n windows are far
-- fewer observations.
with known as (
    select
        o.service_provider_name,
        u.accelerator_name,
        o.offer_id,
        h.unit_price,
        unnest(generate_series(
            date_trunc('month', h.valid_from - interval 1 microsecond) + interval 1 month,
            date_trunc('month', coalesce(h.valid_to - interval 1 microsecond, h.last_observed_at)), interval 1 month
        )) as starts_at
    from log.price_link as h
    inner join core.offer as o on h.offer_no = o.offer_no
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    anti join core.market_offer as m on o.offer_id = m.offer_id
    where
        o.purchase_option = 'on_demand' and o.unit_price_type = 'List' and o.restriction is null
        and h.unit_price > 0 and u.accelerator_name is not null
),

-- What was paid on all firsts so far, and how many they are.
paid as (
    select
        *,
        sum(unit_price) over (partition by offer_id order by starts_at) as paid_so_far,
        row_number() over (partition by offer_id order by starts_at) as n_so_far
    from known
),

started as (
    select
        *,
        unnest([months_asked], recursive := true) as months
    from paid
),

moved as (
    select
        s.service_provider_name,
        s.accelerator_name,
        s.starts_at::DATE as starts_on,
        s.months::INTEGER as months,
        e.unit_price / s.unit_price as end_ratio,
        (e.paid_so_far - s.paid_so_far) / (e.n_so_far - s.n_so_far) / s.unit_price as mean_ratio
    from started as s
    inner join paid as e
        on
            s.offer_id = e.offer_id
            and e.starts_at
            = s.starts_at + to_months(if(s.months >= 1, s.months, error('months_asked must be 1 or more'))::INTEGER)
)

select
    service_provider_name,
    accelerator_name,
    starts_on,
    avg(end_ratio::DECIMAL(38, 15)) as end_ratio,
    avg(mean_ratio::DECIMAL(38, 15)) as mean_ratio,
    months
from moved
group by service_provider_name, accelerator_name, starts_on, months
