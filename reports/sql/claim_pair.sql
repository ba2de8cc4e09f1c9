-- Two texts that say different things of one quantity, and what the evidence says of it.
select
    quantity,
    subject,
    unit,
    claim_id,
    claimed,
    article,
    verdict,
    other_claim_id,
    other_claimed,
    other_article,
    other_verdict,
    recomputed_value
from mart.claim_contradiction
order by quantity, subject, claim_id, other_claim_id
