-- What kind of evidence each document is: provider_bytes where it is the provider's own answer, transcribed where
-- somebody typed its figures or published them again. A document of the archive says so itself; imports and the older
-- archive are transcribed; what a run fetched are the provider's bytes.
select
    d.document_sha256,
    max(
        coalesce(
            json_extract_string(d.parameters, '$.evidence_kind'),
            case when s.kind = 'live' then 'provider_bytes' else 'transcribed' end
        )
    ) as evidence_kind,
    min(coalesce(json_extract_string(d.parameters, '$.source_url'), d.url)) as source_url,
    min(json_extract_string(d.parameters, '$.accessed_on')::DATE) as accessed_on
from core.document as d
left join core.source as s on d.source = s.source
group by d.document_sha256
