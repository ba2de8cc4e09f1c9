-- Changes since $since with what the page says of them. Learnt in the last run alone is no change since the last run:
-- the window in which it happened must end after the run before, or else a first look at old prices would read as news.
with learnt as (
    select distinct offer_id
    from core.price_event
    where recorded_at = $recorded_at
)

select
    c.* replace (decision.sold_tier(c.tier) as tier), -- noqa: AM04
    coalesce(c.instance_type, c.accelerator_name) as offered,
    c.instance_type is null as is_chip,
    coalesce(l.offer_id is not null and c.observed_at > $previous_ended_at::TIMESTAMP, false) as is_since,
    c.observed_at > meta.built_at() - interval 30 days as is_recent
from int.price_change as c
left join learnt as l on c.offer_id = l.offer_id
where c.reason is null and c.observed_at > $since
order by
    array_position(
        [
            'list_change', 'gone_offer', 'returned_offer', 'new_offer', 'market_move', 'spot_move', 'correction',
            'suspected_error'
        ],
        c.change_kind
    ),
    c.purchase_option <> 'on_demand',
    -abs(c.change_ratio) nulls last,
    -epoch_us(c.observed_at),
    c.offer_id
