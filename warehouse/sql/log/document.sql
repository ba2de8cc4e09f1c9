-- Each document as received. A hash that a fetch names and nothing was recorded of is none.
select
    document_sha256,
    source,
    scope,
    url,
    parameters,
    version_key,
    fetched_at,
    published_at,
    size_bytes,
    whole_size_bytes,
    whole_sha256,
    recorded_at,
    whole_blake3
from log.document
where recorded_at is not null
