-- From when on int.price_move decides the kinds of an offer's moves again (since), and from when on it needs prices for
-- that (shown_since): of those offers, and of the offers that their moves are compared with.
-- Where a provider has become a marketplace, all moves of its lists. Otherwise a kind can change from 30 days before
-- the first price that differs: later prices make a move a correction (within seven days) or a market_move (five moves
-- within 30 days). The kind of a move needs the two moves before it, and those of the 30 days before; the first move of
-- the run in which moves take back one another, which begins at the latest after seven days without a move; and, where
-- it takes back the move before it, whether that one was a suspected_error, so the prices which that one is compared
-- with are needed, too.
with judged as (
    select
        o.*,
        o.purchase_option <> 'spot' and k.offer_id is null as is_list,
        case
            when m.offer_id is null then (select min(since) - interval 30 day from temp.differing_price)
            else TIMESTAMP '-infinity'
        end as since
    from temp.touched_offer as t
    inner join core.offer as o on t.offer_id = o.offer_id
    left join core.market_offer as k on t.offer_id = k.offer_id
    left join temp.new_market as m on t.offer_id = m.offer_id
),

move as (
    select
        j.*,
        h.valid_from as observed_at,
        lag(h.valid_from) over w as changed_before_at,
        lag(h.valid_from, 2) over w as changed_two_before_at,
        lag(h.last_observed_at) over w as last_observed_before_at,
        ln(nullif(lag(h.unit_price) over w, 0)::DOUBLE) as ln_before,
        ln(nullif(h.unit_price, 0)::DOUBLE) as ln_after,
        ln(nullif(lead(h.unit_price) over w, 0)::DOUBLE) as ln_next,
        h.valid_from >= j.since as is_judged,
        lead(h.valid_from) over w >= j.since and 2 * abs(ln_next - ln_before) < abs(ln_after - ln_before) as is_undone,
        not j.is_list or observed_at - changed_before_at > interval 7 day as is_of_no_run
    from judged as j
    inner join log.price_link as h on j.offer_no = h.offer_no
    window w as (partition by h.offer_no order by h.valid_from)
),

list_move as (
    from move
    where is_list and (is_judged or is_undone)
),

-- Offers of the same provider with an accelerator_label, and of a chip of which a price moved more than fourfold.
compared as (
    select
        o.offer_id,
        min(a.last_observed_before_at) as shown_since
    from core.offer as o
    inner join list_move as a on o.service_provider_name = a.service_provider_name
    where o.accelerator_label is not null and a.accelerator_label is not null
    group by o.offer_id
    union all
    select
        o.offer_id,
        min(a.observed_at) as shown_since
    from list_move as a
    inner join core.offer_unit as s on a.offer_id = s.offer_id
    inner join core.offer_unit as u on s.accelerator_name = u.accelerator_name
    inner join core.offer as o on u.offer_id = o.offer_id and a.purchase_option = o.purchase_option
    where abs(a.ln_after - a.ln_before) > ln(3.99)
    group by o.offer_id
)

select
    j.offer_id,
    j.offer_no,
    j.since,
    case
        when bool_or(m.is_judged)
            then
                least(
                    j.since - interval 30 day,
                    coalesce(min(m.changed_two_before_at) filter (where m.is_judged), TIMESTAMP '-infinity'),
                    coalesce(
                        max(m.changed_before_at) filter (where m.is_of_no_run and m.changed_before_at < m.since),
                        TIMESTAMP '-infinity'
                    )
                )
        else TIMESTAMP 'infinity'
    end as shown_since
from judged as j
left join move as m on j.offer_id = m.offer_id
group by j.offer_id, j.offer_no, j.since
union all by name
from compared
