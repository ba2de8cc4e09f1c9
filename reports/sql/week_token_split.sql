-- What the cheapest million output tokens on demand cost when a week ended, on whichever chip, at the point of
-- week_token_point.sql; and by what share each cause moved it in the 90 days before. The causes multiply to the change.
with history as (
    select h.*
    from int.token_cost_history as h
    inner join int.headline_point as p
        on
            h.model_name = p.model_name
            and h.scenario = p.scenario
            and h.precision is not distinct from p.precision
            and h.decoding is not distinct from p.decoding
            and h.interactivity is not distinct from p.interactivity
    where
        h.accelerator_name = 'all chips'
        and h.purchase_option = 'on_demand'
        and h.valid_from < $until
),

step as (
    select
        count(*) as n_steps,
        exp(sum(price_effect)) - 1 as price_share,
        exp(sum(evidence_effect)) - 1 as evidence_share,
        exp(sum(new_chip_effect)) - 1 as new_chip_share,
        exp(sum(price_effect + evidence_effect + new_chip_effect)) - 1 as change_share
    from history
    where valid_from >= $until::TIMESTAMP - interval 90 days and price_effect is not null
)

select
    h.usd_per_million_output_tokens,
    u.accelerator_name,
    o.service_provider_name,
    s.n_steps,
    s.price_share,
    s.evidence_share,
    s.new_chip_share,
    s.change_share,
    ($until::TIMESTAMP - interval 90 days)::DATE as since_date
from history as h
left join core.offer as o on h.offer_id = o.offer_id
left join core.offer_unit as u on h.offer_id = u.offer_id
cross join step as s
where h.usd_per_million_output_tokens is not null and coalesce(h.valid_to >= $until, true)
order by h.valid_from desc
limit 1
