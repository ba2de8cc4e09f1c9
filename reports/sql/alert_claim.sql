-- Today's verdict on each published claim. is_settled: it rests on no price, or on one confirmed in the week before the
-- file was built; what older prices say of today is no news. Nor is what an input did, which has a row of its own.
select
    a.claim_id,
    if(starts_with(a.verdict_today, 'arithmetic holds'), 'consistent', a.verdict_today) as verdict_today,
    a.article,
    a.metric,
    a.claimed,
    a.recomputed_value,
    coalesce(a.evidence_until >= b.built_at::DATE - 7, true) as is_settled
from int.claim_audit as a
cross join meta.build as b
order by a.claim_id
