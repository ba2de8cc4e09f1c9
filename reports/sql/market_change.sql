-- The newest changes since $since of each chip and of each provider, $n of each, and how many there are; of $kinds,
-- of which the first tell most. Prices that were withdrawn are none.
with known as (
    select
        *,
        (
            observed_at, -array_position($kinds, change_kind), purchase_option = 'on_demand',
            coalesce(abs(change_ratio), -1), -offer_id
        ) as news
    from int.price_change
    where observed_at > $since and reason is null and list_contains($kinds, change_kind)
)

select
    c.* exclude (c.news) replace (decision.sold_tier(c.tier) as tier), -- noqa: AM04
    coalesce(c.instance_type, c.accelerator_name) as offered,
    c.instance_type is null as is_chip,
    count(*) over (partition by c.accelerator_name) as n_of_chip,
    count(*) over (partition by c.service_provider_name) as n_of_provider,
    row_number() over (partition by c.accelerator_name order by c.news desc) as nth_of_chip,
    row_number() over (partition by c.service_provider_name order by c.news desc) as nth_of_provider
from known as c
qualify nth_of_chip <= $n or nth_of_provider <= $n
