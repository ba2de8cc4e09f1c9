-- Every change of every offer's price, with the window in which it happened: the old price was last seen at
-- last_observed_before_at, the new one first at observed_at. The first sight of an offer is a new offer only where its
-- source had looked at that scope before.
-- change_kind says what a change is, from the log alone; the first that holds:
--   new_offer        offered for the first time
--   returned_offer   offered again after it was gone, at whatever price
--   gone_offer       not offered any more
--   spot_move        a spot price moved: that is what it does
--   market_move      the middle or the least of several offers moved (statistic p25, median, floor), or the price of a
--                    marketplace, by name or in some tier: no list was changed
--   correction       there and back within seven days: both moves, as neither alone was a change of the list. Where a
--                    price flaps, moves are taken in pairs, so that a list change remains only if it ends elsewhere
--   suspected_error  a mistake of reading, or its end, by one of these signs:
--                    - a unit's factor, up or down: chips of a node, a slipped decimal, cents, minutes, hours of a day
--                      or month; or the offer's own number of chips
--                    - rounding: of a chip-hour, half a cent or less, from or to whole cents
--                    - outside [0.5, 2], the bounds of the history gate, and within seven days back: less than half
--                      as far, in logarithms, from the price before; in pairs as corrections are
--                    - wrong column: per chip, to the decimal, what the same chip cost in the same place with another
--                      purchase option, which still cost it
--                    - next card: per chip what another chip of the provider had cost at the last look, and that chip
--                      is not shown with it
--                    - out of the market: more than fourfold, from or to less than a quarter or more than four times
--                      what the chip cost then at the median of three other providers or more, and on its other side
--                      within [0.5, 2] of that
--                    - whenever it comes, the way back from any of these but rounding, as near
--   market_move      also the price of one that moves five times within 30 days
--   list_change      every other move: what one series alone cannot tell from a new price
-- Corrections come in pairs, and a suspected error has its end beside it if that is in sight, so that a series without
-- them ends where it does with them. All need what comes next: the last days' kinds are provisional.
with judged as (
    select offer_id from core.offer
),

step as (
    select
        h.offer_id,
        h.valid_from as observed_at,
        h.unit_price as unit_price_after,
        h.upfront_price as upfront_price_after,
        h.effective_hourly_price as hourly_after,
        h.source,
        h.document_sha256,
        lag(h.unit_price) over w as unit_price_before,
        lag(h.upfront_price) over w as upfront_price_before,
        lag(h.effective_hourly_price) over w as hourly_before,
        lag(h.last_observed_at) over w as last_observed_before_at,
        lag(h.last_source) over w as source_before,
        lag(h.unit_price, 2) over w as unit_price_two_before,
        lag(h.upfront_price, 2) over w as upfront_price_two_before,
        lag(h.valid_from) over w as changed_before_at,
        lead(h.unit_price) over w as unit_price_next,
        lead(h.valid_from) over w as changed_next_at
    from int.price_history as h
    semi join judged as j on h.offer_id = j.offer_id
    window w as (partition by h.offer_id order by h.valid_from)
),

effective as materialized (
    select
        s.*,
        o.purchase_option,
        ln(nullif(s.unit_price_two_before, 0)::DOUBLE) as ln_two_before,
        ln(nullif(s.unit_price_before, 0)::DOUBLE) as ln_before,
        ln(nullif(s.unit_price_after, 0)::DOUBLE) as ln_after,
        2 * abs(ln(nullif(s.unit_price_next, 0)::DOUBLE) - ln_before) < abs(ln_after - ln_before) as is_undone,
        f.observed_at as first_look_at,
        o.purchase_option <> 'spot' and m.offer_id is null as is_list,
        coalesce(lead(s.observed_at, 2) over w - lag(s.observed_at, 2) over w <= interval 30 days, false) as is_restless
    from step as s
    inner join core.offer as o on s.offer_id = o.offer_id
    left join core.market_offer as m on s.offer_id = m.offer_id
    left join core.sku_price as p
        on s.offer_id = p.offer_id and s.source = p.source and s.observed_at = p.valid_from
    left join core.first_look as f on p.source = f.source and p.scope = f.scope
    -- to go and to come back is no move of the price
    window
        w as (
            partition by
                s.offer_id,
                s.hourly_after is null or (s.hourly_before is null and s.source_before is not null)
            order by s.observed_at
        )
),

-- Moves that within seven days take back the one before: to the same price, or, where that one left the bounds, to one
-- less than half as far from it. They come in runs; the first of a run is the move that they take back.
back as (
    select
        offer_id,
        observed_at,
        (
            unit_price_after = unit_price_two_before
            and (upfront_price_after is not distinct from upfront_price_two_before)
        ) as is_same
    from effective
    where
        is_list
        and unit_price_before is not null
        and observed_at - changed_before_at <= interval 7 days
        and (
            is_same
            or (
                abs(ln_before - ln_two_before) > ln(2)
                and 2 * abs(ln_after - ln_two_before) < abs(ln_before - ln_two_before)
            )
        )
),

run as (
    select
        e.offer_id,
        e.observed_at,
        b.is_same,
        count(*) filter (where b.offer_id is null) over (partition by e.offer_id order by e.observed_at) as run_number
    from effective as e
    semi join back as f on e.offer_id = f.offer_id
    left join back as b on e.offer_id = b.offer_id and e.observed_at = b.observed_at
),

-- Of each run the first and second, third and fourth ...: a last one that nothing takes back is left.
paired as (
    select
        offer_id,
        observed_at,
        case when row_number() over w % 2 = 0 then is_same else lead(is_same) over w end as is_same
    from run
    window w as (partition by offer_id, run_number order by observed_at)
),

-- Prices of chips as they stand on pages and in tables, per chip: what a reader of columns or cards may mistake.
chip_price as (
    select
        h.offer_id,
        h.source,
        h.valid_from,
        h.last_observed_at,
        lead(h.valid_from) over w as next_from,
        lead(h.unit_price) over w as unit_price_next,
        o.service_provider_name,
        coalesce(o.region_id, '') as region_id,
        o.purchase_option,
        o.tier,
        u.accelerator_name,
        u.form_factor,
        u.accelerator_memory_gib,
        u.accelerator_count,
        round(h.unit_price::DOUBLE / u.accelerator_count::DOUBLE, 4) as price_per_accelerator
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    inner join core.offer_unit as u on h.offer_id = u.offer_id
    where o.accelerator_label is not null and o.statistic = 'price' and u.accelerator_count > 0
    window w as (partition by h.offer_id order by h.valid_from)
),

misread as (
    select
        m.offer_id,
        m.observed_at,
        m.changed_next_at,
        m.is_undone
    from effective as m
    inner join chip_price as a on m.offer_id = a.offer_id and m.observed_at = a.valid_from
    inner join chip_price as b
        on
            a.source = b.source
            and a.service_provider_name = b.service_provider_name
            and a.region_id = b.region_id
            and a.price_per_accelerator = b.price_per_accelerator
            and a.valid_from > b.valid_from
    where
        m.is_list
        and m.unit_price_before is not null
        and case
            when a.accelerator_name = b.accelerator_name
                then
                    a.purchase_option <> b.purchase_option
                    and a.form_factor is not distinct from b.form_factor
                    and a.accelerator_memory_gib is not distinct from b.accelerator_memory_gib
                    and b.last_observed_at >= a.valid_from
            else
                a.purchase_option = b.purchase_option
                and a.tier is not distinct from b.tier
                and b.last_observed_at between m.last_observed_before_at and a.valid_from - interval 1 microsecond
                and coalesce(b.next_from > a.valid_from or b.unit_price_next is null, true)
        end
),

jump as materialized (
    select
        e.*,
        exp(abs(e.ln_after - e.ln_before)) as fold,
        u.accelerator_name,
        e.hourly_before / nullif(u.accelerator_count, 0)::DOUBLE as chip_hour_before,
        e.hourly_after / nullif(u.accelerator_count, 0)::DOUBLE as chip_hour_after,
        case when u.accelerator_count > 2 then u.accelerator_count::DOUBLE end as own_count,
        least(
            abs(fold / 8 - 1), abs(fold / 10 - 1), abs(fold / 16 - 1), abs(fold / 24 - 1), abs(fold / 60 - 1),
            abs(fold / 72 - 1), abs(fold / 100 - 1), abs(fold / 720 - 1), abs(fold / 730 - 1),
            abs(fold / 744 - 1), abs(fold / 1000 - 1), abs(fold / own_count - 1)
        ) < 0.005 as is_factor
    from effective as e
    inner join core.offer_unit as u on e.offer_id = u.offer_id
    where e.is_list and abs(e.ln_after - e.ln_before) > ln(2)
),

-- Where a price moved more than fourfold: the offers of the chip by others, and what each of them asked then.
rival as materialized (
    select
        j.offer_id,
        j.observed_at,
        u.offer_id as other_id,
        o.service_provider_name
    from jump as j
    inner join core.offer as s on j.offer_id = s.offer_id
    inner join core.offer_unit as u on j.accelerator_name = u.accelerator_name and u.accelerator_count > 0
    inner join core.offer as o on u.offer_id = o.offer_id
    where
        j.fold > 4
        and s.service_provider_name <> o.service_provider_name
        and s.pricing_currency = o.pricing_currency
        and s.purchase_option = o.purchase_option
),

peer as (
    select
        r.offer_id,
        r.observed_at,
        r.service_provider_name,
        median(h.effective_hourly_price / u.accelerator_count::DOUBLE) as chip_hour
    from rival as r
    inner join core.offer_unit as u on r.other_id = u.offer_id
    inner join int.price_history as h
        on r.other_id = h.offer_id and r.observed_at between h.valid_from and h.last_observed_at
    where h.effective_hourly_price > 0
    group by r.offer_id, r.observed_at, r.service_provider_name
),

asked as (
    select
        offer_id,
        observed_at,
        median(chip_hour) as chip_hour
    from peer
    group by offer_id, observed_at
    having count(*) >= 3
),

doubtful as (
    from misread
    union
    select
        j.offer_id,
        j.observed_at,
        j.changed_next_at,
        j.is_undone
    from jump as j
    left join asked as a on j.offer_id = a.offer_id and j.observed_at = a.observed_at
    where
        j.is_factor
        or (
            j.chip_hour_before / a.chip_hour not between 0.25 and 4
            and j.chip_hour_after / a.chip_hour between 0.5 and 2
        )
        or (
            j.chip_hour_after / a.chip_hour not between 0.25 and 4
            and j.chip_hour_before / a.chip_hour between 0.5 and 2
        )
),

rounded as (
    select
        a.offer_id,
        a.valid_from as observed_at
    from effective as e
    inner join chip_price as a on e.offer_id = a.offer_id and e.observed_at = a.valid_from
    where
        e.is_list
        and round(abs(e.hourly_after - e.hourly_before), 6) <= 0.005 * a.accelerator_count
        and (round(e.hourly_after / a.accelerator_count * 100, 6) % 1 = 0)
        <> (round(e.hourly_before / a.accelerator_count * 100, 6) % 1 = 0)
),

suspect as (
    select
        offer_id,
        observed_at
    from paired
    where not is_same
    union
    select
        offer_id,
        unnest(case when is_undone then [observed_at, changed_next_at] else [observed_at] end) as observed_at
    from doubtful
    union
    from rounded
)

select
    e.offer_id,
    e.purchase_option,
    e.unit_price_before,
    e.unit_price_after,
    e.upfront_price_before,
    e.upfront_price_after,
    e.hourly_before as effective_hourly_price_before,
    e.hourly_after as effective_hourly_price_after,
    e.last_observed_before_at,
    e.observed_at,
    case
        when e.hourly_before is null and e.unit_price_two_before is not null then 'returned_offer'
        when e.hourly_before is null then 'new_offer'
        when e.hourly_after is null then 'gone_offer'
        when e.purchase_option = 'spot' then 'spot_move'
        when not e.is_list then 'market_move'
        when c.is_same then 'correction'
        when s.offer_id is not null then 'suspected_error'
        when e.is_restless then 'market_move'
        else 'list_change'
    end as change_kind,
    e.source,
    e.source_before,
    e.document_sha256
from effective as e
left join paired as c on e.offer_id = c.offer_id and e.observed_at = c.observed_at
left join suspect as s on e.offer_id = s.offer_id and e.observed_at = s.observed_at
where
    not (e.hourly_before is null and e.hourly_after is null)
    and (e.hourly_before is not null or e.source_before is not null or e.observed_at > e.first_look_at)
