-- The newest changes since $since of each chip and of each provider, $n of each, and how many there are; of $kinds,
-- of which the first tell most. Prices that were withdrawn are none.
select
    c.* replace (decision.sold_tier(c.tier) as tier), -- noqa: AM04
    coalesce(c.instance_type, c.accelerator_name) as offered,
    c.instance_type is null as is_chip,
    (
        c.observed_at, -array_position($kinds, c.change_kind), c.purchase_option = 'on_demand',
        coalesce(abs(c.change_ratio), -1), -c.offer_id
    ) as news,
    count(*) over (partition by c.accelerator_name) as n_of_chip,
    count(*) over (partition by c.service_provider_name) as n_of_provider,
    row_number() over (partition by c.accelerator_name order by news desc) as nth_of_chip,
    row_number() over (partition by c.service_provider_name order by news desc) as nth_of_provider
from int.price_change as c
where c.observed_at > $since and c.reason is null and list_contains($kinds, c.change_kind)
qualify nth_of_chip <= $n or nth_of_provider <= $n
