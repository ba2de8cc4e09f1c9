-- Prices per chip of one chip on the same terms, of which one is another times a factor that is a unit's: hours of a
-- working day, a day or a month, or minutes of an hour.
with amount as materialized (
    select
        terms,
        service_provider_name,
        (price_per_accelerator_hour * 1e6)::BIGINT as micros,
        count(*) over (partition by terms, service_provider_name) as n_alike,
        min(offer_id) as offer_id,
        max(valid_from) as began_at
    from int.truth_price
    where purchase_option <> 'spot' and price_per_accelerator_hour > 0
    group by terms, service_provider_name, micros
),

multiplied as (
    select
        *,
        micros * unnest([8, 24, 60, 730]) as multiplied_micros
    from amount
),

multiple as (
    select
        a.service_provider_name as subject,
        count(*) as n_differing,
        arg_min(a.offer_id, (a.micros, a.offer_id)) as offer_id,
        arg_min(b.offer_id, (a.micros, a.offer_id)) as other_offer_id,
        max(greatest(a.began_at, b.began_at)) as newest_differing_at
    from multiplied as a
    inner join amount as b on a.terms = b.terms and a.multiplied_micros = b.micros
    group by a.service_provider_name
),

several as (
    select
        service_provider_name as subject,
        count(*) as n_compared
    from amount
    where n_alike > 1
    group by service_provider_name
)

select
    'unit_factor' as check_name,
    s.subject,
    s.n_compared,
    coalesce(m.n_differing, 0) as n_differing,
    coalesce(m.n_differing, 0)::DOUBLE as checked_value,
    m.offer_id,
    m.other_offer_id,
    m.newest_differing_at
from several as s
left join multiple as m on s.subject = m.subject
