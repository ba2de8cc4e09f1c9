-- What the index compares: each offer's price day by day, as runs of days on which it is one (int.price_index_item).
-- An item is an offer of core.offer, compared with itself alone, in its own currency. Left out: floors, prices that
-- nobody new can have, negotiated ones, FPGAs and video chips, and labels that name no chip.
-- The price of a day is the one in force at its end (UTC); of spot the mean over the day, weighted by time.
-- A link is a run of days without a break. A price is held over a gap, and compared with the one after it, where
--   - a look that covered the scope did not show it (an import's look at a provider, and one version of an archived
--     list, count as such), and it is back within seven days;
--   - nobody looked for no longer than seven days, or the source's max_age where that is longer;
--   - the next look of an archive or import, however much later, shows it: what came between nobody can know any more.
-- Any other gap ends the link: on the first day it was absent, or max_age after it was last seen. What was missed for
-- less than seven days when the file was built is still held, and a price of the archive up to the max_age that it has
-- in its own directory. An import that never tells a price twice is a list of changes: its silence means that the price
-- holds, up to its last word on any offer.
-- A move is a market's (market_log) of an offer of core.market_offer, or where int.price_move calls it market_move, as
-- the offer was restless on that day. Moves of a list are never cut.
-- Prices have 14 decimals, an offer's rows follow one another, and those of which the end may move are last: so they
-- take less room, and a day writes fewer blocks anew.
with item as (
    select
        o.offer_id,
        o.service_provider_name,
        o.purchase_option,
        o.pricing_currency,
        m.offer_id is not null as is_market,
        u.accelerator_name,
        u.accelerator_count::DOUBLE as chips
    from core.offer as o
    inner join core.offer_unit as u on o.offer_id = u.offer_id
    left join core.market_offer as m on o.offer_id = m.offer_id
    anti join ref.current_instance_type as t
        on u.accelerator_name = t.accelerator_name and t.accelerator_kind in ('fpga', 'media')
    where
        u.accelerator_name is not null
        and u.accelerator_count > 0
        and o.unit_price_type = 'List'
        and o.restriction is null
        and o.statistic <> 'floor'
),

-- The one place that says which moves are none.
change as (
    select
        offer_id,
        observed_at::DATE as index_date,
        bool_or(change_kind = 'market_move') as is_market_move,
        count(*) filter (where change_kind in ('correction', 'suspected_error')) as n_doubtful,
        -- of decimals, as all sums here: those of doubles depend on the order of rows
        coalesce(
            sum(ln(1 + (effective_hourly_price_after / effective_hourly_price_before - 1))::DECIMAL(18, 15))
            filter (where change_kind in ('correction', 'suspected_error')),
            0
        )::DOUBLE as doubtful_log
    from int.price_move
    where change_kind in ('market_move', 'correction', 'suspected_error')
    group by offer_id, observed_at::DATE
),

place as (
    select
        p.offer_id,
        p.source,
        s.kind,
        s.max_age_hours,
        case when s.kind = 'import' then i.service_provider_name else arg_max(p.scope, p.valid_from) end as place
    from core.sku_price as p
    inner join core.source as s on p.source = s.source
    inner join item as i on p.offer_id = i.offer_id
    group by p.offer_id, p.source, s.kind, s.max_age_hours, i.service_provider_name
),

-- Fetches after a week without one, as a list: of rows DuckDB would expect many, and hash all fetches for them.
uncovered as (
    select unnest(list({ 'fetch_no': fetch_no, 'covered_at': covered_at }), recursive := true)
    from core.fetch_cover
    where observed_at - covered_at > interval 7 days
),

-- The first look of a scope after nobody had looked for longer than a price is held. Answers of aws_spot reach back.
silence as (
    select
        f.source,
        f.scope,
        max(b.observed_at) as last_look_at,
        f.observed_at as look_at
    from uncovered as c
    inner join log.scope_fetch as f on c.fetch_no = f.fetch_no
    inner join core.source as s on f.source = s.source
    inner join log.scope_fetch as b
        on
            f.source = b.source and f.scope = b.scope and b.status = 'ok'
            and c.covered_at <= b.observed_at and f.observed_at > b.observed_at
    where
        f.status = 'ok' and s.kind = 'live' and f.source <> 'aws_spot'
    group by f.source, f.scope, f.observed_at, s.max_age_hours
    having
        not arg_max(b.archived, b.observed_at)
        and f.observed_at::DATE - last_look_at::DATE - 1 > greatest(7, s.max_age_hours // 24)
),

-- What such a look shows at the price before is a price anew, as one that moved is, unless another source had it.
parted as (
    select
        *,
        null::TIMESTAMP as last_look_at
    from int.price_history
    union all by name
    select
        h.* replace (z.look_at as valid_from),
        z.last_look_at
    from int.price_history as h
    inner join place as p on h.offer_id = p.offer_id
    inner join silence as z
        on
            p.source = z.source and p.place = z.scope
            and h.valid_from <= z.last_look_at and h.last_observed_at >= z.look_at
    anti join core.sku_price as k
        on
            h.offer_id = k.offer_id and p.source <> k.source
            and z.look_at > k.valid_from and z.last_look_at < k.last_observed_at
),

followed as (
    select
        h.offer_id,
        h.valid_from,
        coalesce(lead(h.last_look_at) over w, h.last_observed_at) as last_observed_at,
        h.last_source,
        round(nullif(h.effective_hourly_price, 0) / i.chips, 14) as price,
        lead(price) over w is null as is_gone,
        lead(h.valid_from) over w as next_from,
        case when is_gone then lead(h.valid_from) over w end as gone_at,
        case when is_gone then lead(h.valid_from, 2) over w else lead(h.valid_from) over w end as back_at,
        case when is_gone then lead(h.source, 2) over w else lead(h.source) over w end as back_source
    from parted as h
    inner join item as i on h.offer_id = i.offer_id
    window w as (partition by h.offer_id order by h.valid_from)
    qualify price is not null
),

-- Looks at the past: days on which a source looked at a provider (imports) or a scope (archived lists).
look as (
    select
        g.source,
        p.place,
        g.observed_at::DATE as looked_on
    from core.sighting as g
    inner join place as p on g.offer_id = p.offer_id and g.source = p.source and p.kind = 'import'
    union
    select
        source,
        scope as place,
        observed_at::DATE as looked_on
    from core.scope_run
    where archived and status = 'ok' and source <> 'price_archive'  -- its files are no lists: what they lack is unknown
),

ended as (
    select
        f.offer_id,
        f.valid_from,
        f.last_observed_at,
        f.next_from,
        f.price,
        f.back_at::DATE as back_on,
        c.looked_on as listed_until,
        coalesce(
            f.gone_at::DATE,
            case
                when
                    (p.kind <> 'live' or a.looked_on is not null)
                    and c.source is null
                    and coalesce(l.looked_on < f.back_at::DATE, true)
                    then l.looked_on
            end
        ) as absent_on,
        p.kind <> 'live' or a.looked_on is not null as is_past,
        p.kind = 'archive' as is_archive,
        f.last_source = f.back_source as is_same_source,
        f.last_observed_at::DATE as seen_on,
        coalesce(p.max_age_hours, 0) as max_age_hours
    from followed as f
    inner join place as p on f.offer_id = p.offer_id and f.last_source = p.source
    left join core.silent_import as c on f.last_source = c.source
    left join look as a on f.last_source = a.source and p.place = a.place and f.last_observed_at::DATE = a.looked_on
    asof left join look as l
        on f.last_source = l.source and p.place = l.place and f.last_observed_at::DATE < l.looked_on
),

lasting as (
    select
        e.*,
        b.built_at::DATE as built_on,
        greatest(e.seen_on, (e.last_observed_at + to_hours(e.max_age_hours))::DATE) as stale_on,
        coalesce(
            case
                when e.absent_on < e.back_on then e.back_on - e.absent_on <= 7
                when e.is_past and e.is_same_source then true
                else e.back_on - coalesce(e.listed_until, e.seen_on) - 1 <= greatest(7, e.max_age_hours // 24)
            end, false
        ) as is_bridged,
        not coalesce(lag(is_bridged) over w, false) as is_first,
        case
            when is_bridged then null
            else least(
                built_on,
                e.back_on - 1,
                case
                    when e.absent_on is not null and e.is_past then e.absent_on - 1
                    when e.absent_on is not null and e.back_on is null and built_on - e.absent_on < 7 then built_on
                    when e.absent_on is not null then least(e.absent_on - 1, stale_on)
                    when e.listed_until is not null then greatest(e.listed_until, e.seen_on)
                    when e.is_past and not e.is_archive then e.seen_on
                    else stale_on
                end
            )
        end as last_day
    from ended as e
    cross join meta.build as b
    window w as (partition by e.offer_id order by e.valid_from)
),

linked as (
    select
        *,
        count(*) filter (where is_first) over (partition by offer_id order by valid_from) as link_number
    from lasting
),

timed as (
    select
        offer_id,
        link_number,
        valid_from,
        valid_from::DATE as index_date,
        last_observed_at,
        last_day,
        price,
        lag(price) over w as price_before,
        epoch(least(coalesce(next_from, 'infinity'), valid_from::DATE + interval 1 day) - valid_from) as seconds,
        case
            when lag(valid_from) over w < valid_from::DATE
                then greatest(0, epoch(least(lag(next_from) over w, valid_from) - valid_from::DATE))
            else 0
        end as seconds_before
    from linked
    window w as (partition by offer_id, link_number order by valid_from)
),

spanned as (
    select
        t.offer_id,
        t.link_number,
        t.index_date,
        max(t.last_observed_at) as last_observed_at,
        arg_max(t.price, t.valid_from) as closing_price,
        case
            when any_value(i.purchase_option) <> 'spot' then closing_price
            else
                round(
                    sum((t.price * t.seconds + coalesce(t.price_before, 0) * t.seconds_before)::DECIMAL(38, 12))::DOUBLE
                    / sum((t.seconds + t.seconds_before)::DECIMAL(38, 6))::DOUBLE, 14
                )
        end as day_price,
        lead(t.index_date) over (partition by t.offer_id, t.link_number order by t.index_date) as next_date,
        max(max(t.last_day)) over (partition by t.offer_id, t.link_number) as last_day
    from timed as t
    inner join item as i on t.offer_id = i.offer_id
    group by t.offer_id, t.link_number, t.index_date
),

-- After a day of changing spot prices the mean of the next day is the price that it began with.
point as (
    from spanned
    where index_date <= last_day
    union all
    select * replace (index_date + 1 as index_date, closing_price as day_price)
    from spanned
    where day_price <> closing_price and index_date + 1 < coalesce(next_date, last_day + 1)
),

moved as (
    select
        i.service_provider_name,
        i.accelerator_name,
        i.purchase_option,
        i.pricing_currency,
        p.offer_id,
        p.link_number,
        p.index_date,
        coalesce(lead(p.index_date) over w - 1, p.last_day) as held_to_date,
        lag(p.day_price) over w is null as is_link_start,
        lead(p.index_date) over w is null as is_link_end,
        p.last_observed_at::DATE as seen_on,
        p.day_price,
        coalesce(c.n_doubtful, 0) as n_doubtful,
        coalesce(c.doubtful_log, 0) as doubtful_log,
        ln(p.day_price / lag(p.day_price) over w) - coalesce(c.doubtful_log, 0) as log_move,
        i.is_market or coalesce(c.is_market_move, false) as is_market
    from point as p
    inner join item as i on p.offer_id = i.offer_id
    left join change as c on p.offer_id = c.offer_id and p.index_date = c.index_date
    window w as (partition by p.offer_id, p.link_number order by p.index_date)
)

select
    service_provider_name,
    accelerator_name,
    purchase_option,
    pricing_currency,
    index_date,
    held_to_date,
    case when seen_on < held_to_date then greatest(index_date, seen_on + 1) end as carried_from_date,
    day_price as price_per_accelerator_hour,
    case when not is_link_start then doubtful_log end as doubtful_log,
    n_doubtful,
    coalesce(abs(log_move) > 1e-12, false) as is_moved,
    case when is_moved and is_market then log_move end as market_log,
    is_link_start,
    is_link_end,
    link_number,
    offer_id
from moved
order by is_link_end, accelerator_name, purchase_option, service_provider_name, offer_id, index_date
