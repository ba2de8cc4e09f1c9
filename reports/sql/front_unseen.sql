-- In how many lists a chip without a price was looked for, and when last. Files of a user are none.
select
    count(*) as n_lists,
    max(last_good_at) as last_good_at
from int.source_health
where last_good_at is not null and kind <> 'import'
