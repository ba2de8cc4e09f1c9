-- What kind of evidence each document is (core.evidence_kind): provider_bytes where it is the provider's own answer,
-- transcribed where somebody typed its figures or published them again.
select
    d.document_sha256,
    max(core.evidence_kind(d.parameters, s.kind)) as evidence_kind,
    min(coalesce(json_extract_string(d.parameters, '$.source_url'), d.url)) as source_url,
    min(json_extract_string(d.parameters, '$.accessed_on')::DATE) as accessed_on
from core.document as d
left join core.source as s on d.source = s.source
group by d.document_sha256
