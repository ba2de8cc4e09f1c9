-- Two texts that say different things of one quantity, and what the evidence says of it.
select
    p.quantity,
    p.subject,
    p.unit,
    p.claim_id,
    p.claimed,
    p.article,
    coalesce(a.standing, p.verdict) as standing,
    p.other_claim_id,
    p.other_claimed,
    p.other_article,
    coalesce(b.standing, p.other_verdict) as other_standing,
    p.recomputed_value
from int.claim_contradiction as p
left join int.claim_audit as a on p.claim_id = a.claim_id
left join int.claim_audit as b on p.other_claim_id = b.claim_id
order by p.quantity, p.subject, p.claim_id, p.other_claim_id
