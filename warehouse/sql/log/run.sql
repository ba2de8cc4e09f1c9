-- Each fetch of a scope by its number and its document's; one that was taken back has the status withdrawn. A number of
-- a moment or a document alone, which has no status, is none.
select
    f.* replace (case when x.fetch_no is null then f.status else 'withdrawn' end as status), -- noqa: AM04
    x.withdrawn_at
from log.scope_fetch as f
left join log.withdrawn_fetch as x on f.fetch_no = x.fetch_no
where f.status is not null
