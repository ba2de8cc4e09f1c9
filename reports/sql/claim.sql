-- One audited claim and what it rests on, in the order of the texts.
select
    a.claim_id,
    a.article,
    a.article_title,
    a.place,
    a.subject,
    a.metric,
    a.claim_kind,
    a.claimed,
    a.unit,
    a.hedge,
    a.claim_conditions,
    a.claimed_as_of,
    a.standing,
    a.standing_today,
    a.arithmetic,
    a.readings,
    a.bounds,
    a.rests_on,
    a.evidence_documents,
    a.evidence_until,
    c.source_url
from int.claim_audit as a
left join ref.claim as c on a.claim_id = c.claim_id
order by a.article, a.claim_id
