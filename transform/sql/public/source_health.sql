-- Each scope of each source: when it was last fetched, what it gave, and why it failed.
select
    service_provider_name,
    source,
    kind,
    scope,
    status,
    last_tried_at,
    last_good_at,
    age_days,
    is_current,
    n_rows,
    n_refused,
    n_disagreements,
    n_without_accelerator,
    error
from int.source_health
