-- How one provider's on-demand list prices of one chip have moved: how often, how far, over how long.
-- An offer counts for as long as it was seen; moves are the list changes of int.price_change, falls and rises, so that
-- corrections, suspected errors and what markets do are not among them. Where all regions move on one day, that is one
-- of n_move_days, and n_moves of offers.
--   yearly_drift  sum of the relative moves / offer_years: what a year brought on average. NULL where the chip was seen
--                 for less than a year: nothing is carried forward from that
--   deepest_fall  the lowest change_ratio of the chip; provider_deepest_fall that of any of the provider's chips
with offered as (
    select
        h.offer_id,
        o.service_provider_name,
        u.accelerator_name,
        min(h.valid_from) as first_observed_at,
        max(h.last_observed_at) as last_observed_at
    from int.price_history as h
    inner join core.offer as o on h.offer_id = o.offer_id
    inner join core.offer_unit as u on h.offer_id = u.offer_id
    where
        o.purchase_option = 'on_demand'
        and o.statistic = 'price'
        and o.unit_price_type = 'List'
        and h.unit_price is not null
        and u.accelerator_name is not null
    group by h.offer_id, o.service_provider_name, u.accelerator_name
),

moved as (
    select
        offer_id,
        count(*) as n_moves,
        count(*) filter (where change_ratio < 0) as n_falls,
        sum(change_ratio::DECIMAL(38, 15)) as all_moves,
        min(change_ratio) filter (where change_ratio < 0) as deepest_fall,
        list(distinct observed_at::DATE) as move_days
    from int.price_change
    where change_kind = 'list_change'
    group by offer_id
),

counted as (
    select
        o.service_provider_name,
        o.accelerator_name,
        count(*) as n_offers,
        min(o.first_observed_at) as first_observed_at,
        max(o.last_observed_at) as last_observed_at,
        sum(epoch(o.last_observed_at - o.first_observed_at)::DECIMAL(38, 6))::DOUBLE / (365 * 86400) as offer_years,
        coalesce(sum(m.n_moves), 0)::BIGINT as n_moves,
        coalesce(sum(m.n_falls), 0)::BIGINT as n_falls,
        len(list_distinct(flatten(coalesce(list(m.move_days) filter (where m.n_moves > 0), [])))) as n_move_days,
        coalesce(sum(m.all_moves), 0)::DOUBLE as all_moves,
        min(m.deepest_fall) as deepest_fall
    from offered as o
    left join moved as m on o.offer_id = m.offer_id
    group by o.service_provider_name, o.accelerator_name
)

select
    service_provider_name,
    accelerator_name,
    n_offers,
    first_observed_at,
    last_observed_at,
    offer_years,
    n_moves,
    n_falls,
    n_move_days,
    case
        when last_observed_at - first_observed_at >= interval 365 days then all_moves / offer_years
    end as yearly_drift,
    deepest_fall,
    min(deepest_fall) over (partition by service_provider_name) as provider_deepest_fall
from counted
