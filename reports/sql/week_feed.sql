-- The newest changes of prices in a year that are news by themselves: no spot or market price, and no doubtful move.
-- What several collectors saw is there once, of the first of them, as in week_move.
select
    c.service_provider_name,
    coalesce(c.instance_type, c.accelerator_name, o.accelerator_label) as offered,
    c.accelerator_name,
    u.form_factor,
    c.region_id,
    c.purchase_option,
    c.commitment_term_hours,
    c.purchase_payment_model,
    c.offering_class,
    decision.sold_tier(c.tier) as tier,
    c.pricing_currency,
    coalesce(o.pricing_unit, 'Hours') as pricing_unit,
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
    c.offer_id
from int.price_change as c
inner join core.offer as o on c.offer_id = o.offer_id
inner join core.offer_unit as u on c.offer_id = u.offer_id
where
    c.change_kind in ('list_change', 'new_offer', 'returned_offer', 'gone_offer')
    and c.observed_at > meta.built_at() - interval 365 days
qualify
    coalesce(
        c.last_observed_before_at >= lag(c.observed_at) over (
            partition by decision.same_move(c, u.form_factor, o.accelerator_label) -- noqa: RF02
            order by c.observed_at, c.offer_id
        ),
        true
    )
order by c.observed_at desc, c.offer_id asc
limit 200
