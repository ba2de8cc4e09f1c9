-- From which day on the index may differ (first_day): all of it where other providers are administered, and from two
-- days before the last file's own, as a day is provisional for a while. From since on its SELECT has to know levels:
-- the windows of a series know of 30 days before, those of volatility_30d.
with was_administered as (
    select list(distinct service_provider_name order by service_provider_name) as providers
    from int.price_index
    where index_level = 'provider' and is_administered
),

now_administered as (
    select list(service_provider_name order by service_provider_name) as providers
    from administered
),

day as (
    select
        case
            when (w.providers is distinct from n.providers) then DATE '0001-01-01'
            else least((select min(l.first_day) from level_day as l), b.built_at::DATE - 2)
        end as first_day
    from was_administered as w
    cross join now_administered as n
    cross join former.meta.build as b
),

series as (
    select list_min(max(p.index_date, 30)) as since
    from int.price_index as p
    cross join day as d
    semi join int.price_level as l
        on
            p.service_provider_name = l.service_provider_name and p.accelerator_name = l.accelerator_name
            and p.purchase_option = l.purchase_option and d.first_day <= l.index_date
    where p.index_level = 'provider' and p.index_date < d.first_day
    group by p.service_provider_name, p.accelerator_name, p.purchase_option
)

select
    first_day,
    coalesce((select min(since) from series), first_day) as since
from day
