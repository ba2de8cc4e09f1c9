-- Each check of two prices or costs beside one another, and each subject of it: how many pairs, how many outside the
-- limits of ref.truth_rule, and the pair that is farthest from them, as a ratio of its limit.
with pair as (
    from int.truth_unit
    union all by name
    from int.truth_order
    union all by name
    from int.truth_elsewhere
    union all by name
    from int.truth_generation
),

measured as (
    select
        p.*,
        not p.ratio between r.limit_low and r.limit_high as is_off,
        greatest(p.ratio / r.limit_high, r.limit_low / p.ratio) as badness
    from pair as p
    inner join ref.truth_rule as r on p.check_name = r.check_name
)

select
    check_name,
    subject,
    count(*) as n_compared,
    count(*) filter (where is_off) as n_differing,
    arg_max(ratio, (badness, offer_id, other_offer_id)) as checked_value,
    arg_max(offer_id, (badness, offer_id, other_offer_id)) as offer_id,
    arg_max(example, (badness, example)) as example,
    arg_max(other_offer_id, (badness, offer_id, other_offer_id)) as other_offer_id,
    max(began_at) filter (where is_off) as newest_differing_at
from measured
group by check_name, subject
