-- Between which loads machines of one's own are cheaper than a hosted model: one row a stretch, none where they never
-- are. `unit_month` is USD a month of one whole unit, `unit_load` the output tokens a day that it serves, `hosted_usd`
-- what the hosted model charges for a million output tokens and the input that comes with them.
-- Units are paid whole: k of them cost k x unit_month whatever they serve, so that every further one opens a gap in
-- which the hosted model is cheaper again, until decision.last_gap. Loads are above make_from_tokens_per_day, up to and
-- with make_until_tokens_per_day; NULL: from there on always. Of more than a thousand stretches the first and the last
-- are given.
with given as (
    select
        decision.tokens_to_pay_units(1, unit_month, hosted_usd) as pays_from,
        unit_load::DOUBLE as full_load
),

known as (
    select
        *,
        decision.last_gap(pays_from, full_load) as last_units
    from given
),

step as (
    select
        *,
        unnest(list_distinct(range(1, least(last_units, 1000)::BIGINT) || [last_units::BIGINT])) as units
    from known
    where last_units is not null
)

select
    units as unit_count,
    units * pays_from as make_from_tokens_per_day,
    case when units < last_units then units * full_load end as make_until_tokens_per_day
from step
order by units
