-- The log as intervals: a price is one row from when it was recorded to when another took its place. Each fetch,
-- document and offer has a number; hashes stand once. core.price_event, scope_run, sighting and document become views,
-- which are made whenever the file is opened.

create schema log;

create table log.document as
select
    row_number() over (order by recorded_at, fetched_at, source, scope, document_sha256, url)::INTEGER as document_no,
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
    whole_blake3,
    recorded_at
from core.document;

-- A hash that the log names without a document of it: recorded_at is NULL, and core.document does not show it.
insert into log.document by name
with named as (
    select document_sha256 from core.price_event
    union
    select document_sha256 from core.scope_run
    union
    select document_sha256 from core.sighting
)

select
    (
        (select coalesce(max(l.document_no), 0) from log.document as l)
        + row_number() over (order by n.document_sha256)
    )::INTEGER as document_no,
    n.document_sha256
from named as n
anti join core.document as d on n.document_sha256 = d.document_sha256
where n.document_sha256 is not null;

alter table core.offer rename to old_offer;

create table core.offer as
select
    *, -- noqa: AM04
    row_number() over (order by recorded_at, offer_id)::INTEGER as offer_no
from core.old_offer;

drop table core.old_offer;

create table log.scope_fetch as
with named_run as (
    select
        source,
        observed_at,
        document_sha256,
        recorded_at,
        min(scope) as scope
    from core.scope_run
    group by source, observed_at, document_sha256, recorded_at
),

-- What an event or sighting was read from and is no run of core.scope_run by itself: a row's own moment or document.
moment as (
    select
        source,
        scope,
        valid_from as observed_at,
        document_sha256,
        recorded_at
    from core.price_event
    union
    select
        s.source,
        r.scope,
        s.observed_at,
        s.document_sha256,
        s.recorded_at
    from core.sighting as s
    left join named_run as r
        on
            s.source is not distinct from r.source
            and s.observed_at is not distinct from r.observed_at
            and s.document_sha256 is not distinct from r.document_sha256
            and s.recorded_at is not distinct from r.recorded_at
),

every as (
    select * from core.scope_run
    union all by name
    select m.*
    from moment as m
    anti join core.scope_run as r
        on
            m.source is not distinct from r.source
            and m.scope is not distinct from r.scope
            and m.observed_at is not distinct from r.observed_at
            and m.document_sha256 is not distinct from r.document_sha256
            and m.recorded_at is not distinct from r.recorded_at
),

document_number as (
    select
        document_sha256,
        min(document_no) as document_no
    from log.document
    group by document_sha256
)

select
    row_number() over (
        order by e.recorded_at, e.observed_at, e.source, e.scope, e.document_sha256, e.run_id, e.status
    )::INTEGER as fetch_no,
    e.source,
    e.scope,
    e.observed_at,
    d.document_no,
    e.recorded_at,
    e.run_id,
    e.complete,
    e.archived,
    e.status,
    e.n_rows,
    e.n_refused,
    e.error
from every as e
left join document_number as d on e.document_sha256 = d.document_sha256
order by fetch_no;

create table log.fetch_number as
select
    f.source,
    f.scope,
    f.observed_at,
    d.document_sha256,
    f.recorded_at,
    min(f.fetch_no) as fetch_no
from log.scope_fetch as f
left join log.document as d on f.document_no = d.document_no
group by f.source, f.scope, f.observed_at, d.document_sha256, f.recorded_at;

-- Each event with the one before it of its offer and source. All of them are a chain where each comes after the one
-- before, in its moment and in when it was recorded, has another price and the same scope, and none is a retraction.
create table log.link as
with numbered as (
    select
        o.offer_no,
        e.source,
        e.scope,
        e.valid_from,
        e.recorded_at,
        n.fetch_no,
        e.unit_price,
        e.upfront_price,
        e.retracts_recorded_at
    from core.price_event as e
    left join core.offer as o on e.offer_id = o.offer_id
    inner join log.fetch_number as n
        on
            e.source is not distinct from n.source
            and e.scope is not distinct from n.scope
            and e.valid_from is not distinct from n.observed_at
            and e.document_sha256 is not distinct from n.document_sha256
            and e.recorded_at is not distinct from n.recorded_at
),

judged as (
    select
        *,
        coalesce(
            offer_no is not null
            and retracts_recorded_at is null
            and (
                lag(fetch_no) over w is null
                or (
                    valid_from > lag(valid_from) over w
                    and recorded_at >= lag(recorded_at) over w
                    and scope = lag(scope) over w
                    and (
                        unit_price is distinct from lag(unit_price) over w
                        or upfront_price is distinct from lag(upfront_price) over w
                    )
                )
            ),
            false
        ) as is_link
    from numbered
    window w as (partition by offer_no, source order by valid_from, recorded_at, fetch_no)
)

select
    * exclude (is_link),
    bool_and(is_link) over (partition by offer_no, source) as is_chain,
    lead(fetch_no) over (partition by offer_no, source order by valid_from, recorded_at, fetch_no) as end_fetch_no
from judged;

create table log.price_closed as
select
    offer_no,
    fetch_no,
    end_fetch_no,
    unit_price,
    upfront_price
from log.link
where is_chain and end_fetch_no is not null
order by end_fetch_no, offer_no;

create table log.price_open as
select
    offer_no,
    source,
    scope,
    fetch_no,
    valid_from,
    recorded_at,
    unit_price,
    upfront_price
from log.link
where is_chain and end_fetch_no is null
order by source, scope, offer_no;

create table log.price_other as
select
    offer_no,
    fetch_no,
    unit_price,
    upfront_price,
    retracts_recorded_at,
    null::VARCHAR as retraction_reason,
    null::VARCHAR as retracted_by
from log.link
where not is_chain
order by fetch_no, offer_no;

create table log.sighting as
with sighted as (
    select
        source,
        observed_at,
        document_sha256,
        recorded_at,
        min(fetch_no) as fetch_no
    from log.fetch_number
    group by source, observed_at, document_sha256, recorded_at
)

select
    o.offer_no,
    n.fetch_no
from core.sighting as s
left join core.offer as o on s.offer_id = o.offer_id
inner join sighted as n
    on
        s.source is not distinct from n.source
        and s.observed_at is not distinct from n.observed_at
        and s.document_sha256 is not distinct from n.document_sha256
        and s.recorded_at is not distinct from n.recorded_at
order by n.fetch_no, o.offer_no;

drop table log.link;

drop table log.fetch_number;

drop table core.price_event;

drop table core.scope_run;

drop table core.sighting;

drop table core.document;

-- Which history this is: the landing has the same id.
create table meta.history (
    history_id VARCHAR,
    made_at TIMESTAMP
);
