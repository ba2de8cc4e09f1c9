-- Changes with what the page says of them. Learnt in the last run alone is no change since the last run: the window in
-- which it happened must end after the run before, or else a first look at old prices would read as news.
with learnt as (
    select distinct offer_id
    from core.price_event
    where recorded_at = $recorded_at
)

select
    c.offer_id,
    c.service_provider_name,
    coalesce(c.instance_type, c.accelerator_name) as offered,
    c.instance_type is null as is_chip,
    c.accelerator_name,
    c.accelerator_count,
    c.region_id,
    c.availability_zone_id,
    c.purchase_option,
    c.commitment_term_hours,
    c.purchase_payment_model,
    c.offering_class,
    c.tier,
    c.pricing_currency,
    c.unit_price_before,
    c.unit_price_after,
    c.upfront_price_before,
    c.upfront_price_after,
    c.change_ratio,
    c.last_observed_before_at,
    c.observed_at,
    c.change_kind,
    c.source,
    c.document_sha256,
    coalesce(l.offer_id is not null and c.observed_at > $previous_ended_at::TIMESTAMP, false) as is_since,
    c.observed_at > b.built_at - interval 30 days as is_recent
from int.price_change as c
left join learnt as l on c.offer_id = l.offer_id
cross join meta.build as b
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
