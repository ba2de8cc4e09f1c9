-- What kind of evidence a document is: as it says itself, else by the kind of its source. Imports and the older archive
-- are transcribed; what a run fetched are the provider's bytes.
create or replace macro core.evidence_kind(document_parameters, source_kind) as -- noqa: CP05
coalesce(
    json_extract_string(document_parameters, '$.evidence_kind'),
    case when source_kind = 'live' then 'provider_bytes' else 'transcribed' end
)
