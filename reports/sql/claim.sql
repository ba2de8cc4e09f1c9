-- One audited claim and what it rests on, in the order of the texts.
select
    a.*, -- noqa: AM04
    c.source_url
from int.claim_audit as a
left join ref.claim as c on a.claim_id = c.claim_id
order by a.article, a.claim_id
