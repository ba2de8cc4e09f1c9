-- What the cheapest million output tokens on demand costs, on whichever chip, and what moved it in 90 days: the row of
-- int.token_drift that the page of drift shows, with the offer of the cost.
select
    d.usd_after,
    d.drift,
    d.price_effect,
    d.new_provider_effect,
    d.evidence_effect,
    d.new_chip_effect,
    d.window_begins_on,
    u.accelerator_name,
    o.service_provider_name
from int.token_drift as d
inner join int.token_cost_history as h
    on
        d.model_name = h.model_name
        and d.scenario = h.scenario
        and d.precision is not distinct from h.precision
        and d.decoding is not distinct from h.decoding
        and d.interactivity is not distinct from h.interactivity
        and d.interactivity_statistic is not distinct from h.interactivity_statistic
        and d.accelerator_name = h.accelerator_name
        and d.purchase_option = h.purchase_option
left join core.offer as o on h.offer_id = o.offer_id
left join core.offer_unit as u on h.offer_id = u.offer_id
where
    d.is_headline
    and d.accelerator_name = 'all chips'
    and d.purchase_option = 'on_demand'
    and d.window_days = 90
    and d.usd_after is not null
    and coalesce(h.evidence_grade, 'A') = 'A'
    and h.valid_from <= d.window_ends_on
    and coalesce(h.valid_to > d.window_ends_on, true)
