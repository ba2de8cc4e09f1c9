-- The cost of a token that is named, at its model's point, the first as the page of costs orders them, and what it was
-- computed with.
with chosen as (
    select
        t.*,
        count(*) over () as n_costs
    from int.token_option as t
    where
        t.point_rank is not null
        and t.usd_per_million_output_tokens is not null
        and lower(t.model_name) = lower($model)
        and coalesce(t.offer_id = $offer_id, lower(t.accelerator_name) = lower($chip))
        and coalesce(lower(t.service_provider_name) = lower($provider), $provider is null)
        and coalesce(t.purchase_option = $option, $option is null) and coalesce(t.region_id = $region, $region is null)
        and coalesce(t.instance_type = $instance_type, $instance_type is null)
    order by
        not t.is_cost_ranked, not t.is_price_ranked, t.price_kind, t.usd_per_million_output_tokens, t.offer_id,
        t.throughput_id
    limit 1
)

select
    c.*, -- noqa: AM04
    o.network,
    s.slower_throughput_id,
    a.pricing_currency,
    a.fx_rate_date,
    a.commitment_term_hours
from chosen as c
inner join int.accelerator_hour_price as a on c.offer_id = a.offer_id
inner join int.cost_option as o
    on
        c.offer_id = o.offer_id and c.price_kind = o.price_kind and c.unit_accelerators = o.unit_accelerators
        and c.offer_terms is not distinct from o.offer_terms
inner join int.serving_rate as s
    on
        c.throughput_id = s.throughput_id and o.unit_accelerators = s.unit_accelerators
        and o.network is not distinct from s.network and o.chip_form_factor is not distinct from s.chip_form_factor
        and (
            s.interactivity_from is null
            or (c.interactivity > s.interactivity_from and c.interactivity <= s.interactivity_to)
        )
