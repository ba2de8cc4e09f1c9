-- From which day on the index may differ (first_day): by levels, by moves that are cut, all of it where other providers
-- are administered, and from two days before the last file's own, as a day is provisional for a while. From since on
-- its SELECT has to know levels: those of 30 days before, for volatility_30d.
with was_administered as (
    select distinct service_provider_name
    from int.price_index
    where index_level = 'provider' and is_administered
),

other as (
    select h.service_provider_name
    from administered as h
    full join was_administered as b on h.service_provider_name = b.service_provider_name
    where h.service_provider_name is null or b.service_provider_name is null
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
        least(
            (select min(DATE '0001-01-01') from other),
            (select min(first_day) from level_day),
            (select min(index_date) from cut),
            (select built_at::DATE - 2 from former.meta.build)
        ) as first_day
)

select
    first_day,
    first_day - 30 as since
from day
