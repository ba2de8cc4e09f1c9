-- Two texts that say different things of one quantity, and what the evidence says of it.
select
    p.*, -- noqa: AM04
    coalesce(a.standing, p.verdict) as standing,
    coalesce(b.standing, p.other_verdict) as other_standing
from int.claim_contradiction as p
left join int.claim_audit as a on p.claim_id = a.claim_id
left join int.claim_audit as b on p.other_claim_id = b.claim_id
order by p.quantity, p.subject, p.claim_id, p.other_claim_id
