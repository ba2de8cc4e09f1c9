-- The documents that the page refers to, each with where and when it was read.
select * -- noqa: AM04
from core.document
where list_contains($shas, document_sha256)
qualify row_number() over (partition by document_sha256 order by recorded_at, url) = 1
order by source, scope, -epoch_us(fetched_at), document_sha256
