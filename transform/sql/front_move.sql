-- Whose on-demand list prices moved in the 90 days before the file's own date: one row per provider, how many rose and
-- fell, and the largest of them. size_rank 1 has the largest move of all, news_rank 1 the provider with the most.
with moved as (
    select
        o.service_provider_name,
        u.accelerator_name,
        c.effective_hourly_price_after / c.effective_hourly_price_before - 1 as change_ratio,
        c.observed_at,
        c.offer_id
    from int.price_move as c
    inner join core.offer as o on c.offer_id = o.offer_id
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where
        c.change_kind = 'list_change'
        and c.purchase_option = 'on_demand'
        and u.accelerator_name is not null
        and c.observed_at between meta.built_at() - interval 90 days and meta.built_at()
),

counted as (
    select
        service_provider_name,
        count(*) as n_moves,
        count(*) filter (where change_ratio > 0) as n_rises,
        count(*) filter (where change_ratio < 0) as n_falls,
        max_by(
            { 'chip': accelerator_name, 'ratio': change_ratio, 'observed': observed_at, 'offer': offer_id },
            (abs(change_ratio), observed_at, -offer_id)
        ) as largest
    from moved
    group by service_provider_name
)

select
    c.service_provider_name,
    c.n_moves,
    c.n_rises,
    c.n_falls,
    c.largest.chip as accelerator_name,
    c.largest.ratio as change_ratio,
    c.largest.observed as observed_at,
    c.largest.offer as offer_id,
    row_number() over (order by abs(c.largest.ratio) desc, c.service_provider_name asc) as size_rank,
    row_number() over (order by c.n_moves desc, abs(c.largest.ratio) desc, c.service_provider_name asc) as news_rank
from counted as c
order by news_rank
