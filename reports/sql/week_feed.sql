-- The newest changes of prices in a year that are news by themselves: no spot or market price, and no doubtful move.
select
    c.* replace (decision.sold_tier(c.tier) as tier), -- noqa: AM04
    coalesce(c.instance_type, c.accelerator_name, o.accelerator_label) as offered,
    u.form_factor,
    coalesce(o.pricing_unit, 'Hours') as pricing_unit
from int.price_change as c
inner join core.offer as o on c.offer_id = o.offer_id
inner join core.offer_unit as u on c.offer_id = u.offer_id
where
    c.change_kind in ('list_change', 'new_offer', 'returned_offer', 'gone_offer')
    and c.observed_at > meta.built_at() - interval 365 days
order by c.observed_at desc, c.offer_id asc
limit 200
