-- From which day on the index may differ (first_day): by levels, by moves that are cut, all of it where other providers
-- are administered, and from two days before the last file's own, as a day is provisional for a while. From since on
-- its SELECT has to know levels: those of 30 days before, for volatility_30d.
with was_administered as (
    select list(distinct service_provider_name order by service_provider_name) as providers
    from int.price_index
    where index_level = 'provider' and is_administered
),

now_administered as (
    select list(service_provider_name order by service_provider_name) as providers
    from administered
),

cut as (
    select coalesce(h.index_date, b.index_date) as index_date
    from int.index_cut as h
    full join former.int.index_cut as b
        on
            h.offer_id = b.offer_id
            and h.index_date = b.index_date
            and h.is_cut = b.is_cut
            and h.bridged_log = b.bridged_log
    where h.offer_id is null or b.offer_id is null
),

day as (
    select
        case
            when (w.providers is distinct from n.providers) then DATE '0001-01-01'
            else
                least(
                    (select min(l.first_day) from level_day as l),
                    (select min(c.index_date) from cut as c),
                    b.built_at::DATE - 2
                )
        end as first_day
    from was_administered as w
    cross join now_administered as n
    cross join former.meta.build as b
)

select
    first_day,
    first_day - 30 as since
from day
