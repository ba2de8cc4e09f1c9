-- The newest changes since $since of each chip and of each provider, $n of each, and how many there are; of $kinds,
-- of which the first tell most. Prices that were withdrawn are none. What several collectors saw move is one change:
-- that of the first to see it (decision.same_move).
with known as (
    select
        c.*,
        decision.same_move(c, u.form_factor, o.accelerator_label) as thing, -- noqa: RF02
        (
            c.observed_at, -array_position($kinds, c.change_kind), c.purchase_option = 'on_demand',
            coalesce(abs(c.change_ratio), -1), -c.offer_id
        ) as news
    from int.price_change as c
    inner join core.offer as o on c.offer_id = o.offer_id
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where c.observed_at > $since and c.reason is null and list_contains($kinds, c.change_kind)
    qualify
        (c.last_observed_before_at < max(c.observed_at) over (
            partition by thing order by c.observed_at, c.offer_id rows between unbounded preceding and 1 preceding
        )) is not true
)

select
    c.* exclude (c.news, c.thing) replace (decision.sold_tier(c.tier) as tier), -- noqa: AM04
    coalesce(c.instance_type, c.accelerator_name) as offered,
    c.instance_type is null as is_chip,
    count(*) over (partition by c.accelerator_name) as n_of_chip,
    count(*) over (partition by c.service_provider_name) as n_of_provider,
    row_number() over (partition by c.accelerator_name order by c.news desc) as nth_of_chip,
    row_number() over (partition by c.service_provider_name order by c.news desc) as nth_of_provider
from known as c
qualify nth_of_chip <= $n or nth_of_provider <= $n
