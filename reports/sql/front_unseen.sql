-- In how many lists of how many sources a chip without a price was looked for, and when last.
select
    count(distinct source) as n_sources,
    max(last_good_at) as last_good_at
from int.source_health
where last_good_at is not null
