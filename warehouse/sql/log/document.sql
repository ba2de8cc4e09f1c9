-- Each document as received. A hash that a fetch names and nothing was recorded of is none.
select
    * exclude (document_no, recorded_at, whole_blake3), -- noqa: AM04
    recorded_at,
    whole_blake3
from log.document
where recorded_at is not null
