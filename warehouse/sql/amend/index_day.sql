-- From which day on the index may differ (first_day): all of it where other providers are administered, and from two
-- days before the last file's own, as a day is provisional for a while. From since on its SELECT has to know levels:
-- those of 30 days before, for volatility_30d.
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
)

select
    first_day,
    first_day - 30 as since
from day
