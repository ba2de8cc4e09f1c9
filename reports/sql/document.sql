-- The documents that the page refers to, each with where and when it was read, and those of the archive with where
-- their figures were copied from and on which day.
select
    *, -- noqa: AM04
    json_extract_string(parameters, '$.source_url') as source_url,
    json_extract_string(parameters, '$.accessed_on') as accessed_on
from core.document
where document_sha256 in (select unnest($shas))
qualify row_number() over (partition by document_sha256 order by recorded_at, url) = 1
order by source, scope, -epoch_us(fetched_at), document_sha256
