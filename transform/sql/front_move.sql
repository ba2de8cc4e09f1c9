-- Whose on-demand list prices moved in the 90 days before the file's own date: one row per provider, how many rose and
-- fell, and the largest of them. size_rank 1 has the largest move of all, news_rank 1 the provider with the most.
with moved as (
    select
        o.service_provider_name,
        u.accelerator_name,
        u.form_factor,
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

largest as (
    select
        count(*) as n_moves,
        count(*) filter (where m.change_ratio > 0) as n_rises,
        count(*) filter (where m.change_ratio < 0) as n_falls,
        unnest(arg_max(m, (coalesce(abs(m.change_ratio), -1), m.observed_at, -m.offer_id))) -- noqa: AL03, RF02
    from moved as m
    group by m.service_provider_name
)

select
    *, -- noqa: AM04
    row_number() over (order by abs(change_ratio) desc, service_provider_name asc) as size_rank,
    row_number() over (order by n_moves desc, abs(change_ratio) desc, service_provider_name asc) as news_rank
from largest
order by news_rank
