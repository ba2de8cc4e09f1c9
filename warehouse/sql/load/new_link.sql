-- The new events with their numbers, beside the events before them. Those of an offer and source go on with its chain
-- where each comes after the one before, in its moment and in when it was recorded (parameter), has another price and
-- the same scope; else none of them does.
with moment_number as (
    select
        source,
        scope,
        observed_at,
        document_sha256,
        min(fetch_no) as fetch_no
    from new_number
    group by source, scope, observed_at, document_sha256
),

numbered as (
    select
        e.* exclude (e.offer_id, e.document_sha256),
        coalesce(o.offer_no, a.offer_no) as offer_no,
        n.fetch_no
    from new_event as e
    left join core.offer as o on e.offer_id = o.offer_id
    left join added_offer as a on e.offer_id = a.offer_id
    inner join moment_number as n
        on
            e.source = n.source
            and e.scope = n.scope
            and e.valid_from = n.observed_at
            and e.document_sha256 is not distinct from n.document_sha256
),

beside_last as (
    select
        e.*,
        coalesce(lag(e.fetch_no) over w, p.fetch_no) as fetch_no_before,
        if(lag(e.fetch_no) over w is null, p.scope, lag(e.scope) over w) as scope_before,
        if(lag(e.fetch_no) over w is null, p.valid_from, lag(e.valid_from) over w) as valid_from_before,
        if(lag(e.fetch_no) over w is null, p.recorded_at, $recorded_at::TIMESTAMP) as recorded_at_before,
        if(lag(e.fetch_no) over w is null, p.unit_price, lag(e.unit_price) over w) as unit_price_before,
        if(lag(e.fetch_no) over w is null, p.upfront_price, lag(e.upfront_price) over w) as upfront_price_before,
        lead(e.fetch_no) over w is null as is_last
    from numbered as e
    left join log.open_link as p on e.offer_no = p.offer_no and e.source = p.source
    window w as (partition by e.offer_no, e.source order by e.valid_from, e.fetch_no, e.unit_price, e.upfront_price)
)

select
    *, -- noqa: AM04
    bool_and(
        coalesce(
            fetch_no_before is null
            or (
                valid_from > valid_from_before
                and $recorded_at::TIMESTAMP >= recorded_at_before
                and scope = scope_before
                and (
                    unit_price is distinct from unit_price_before
                    or upfront_price is distinct from upfront_price_before
                )
            ),
            false
        )
    ) over (partition by offer_no, source) as is_chain
from beside_last
