-- The licence and the evidence of each offer: all licences that its prices rest on, and the weakest evidence.
select
    s.offer_id,
    string_agg(distinct l.licence, ' AND ' order by l.licence) as licence,
    if(bool_and(e.evidence_kind = 'provider_bytes'), 'provider_bytes', 'transcribed') as evidence_kind
from core.sku_price as s
left join log.document as d on s.document_sha256 = d.document_sha256
left join build.main.licence as l on s.source = l.source and coalesce(d.scope = l.scope, true)
left join int.document_evidence as e on s.document_sha256 = e.document_sha256
group by s.offer_id
