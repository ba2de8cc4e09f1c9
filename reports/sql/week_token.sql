-- One price of a million output tokens to speak of: the best-known benchmark with the most offers, on demand, at 70 %
-- utilisation, the cheapest offer that is ranked, current ones first, confirmed in the week or the five weeks before.
select
    model_name,
    benchmark,
    scenario,
    accelerator_name,
    form_factor,
    service_provider_name,
    tier,
    all_in_output_usd_low,
    all_in_output_usd_median,
    all_in_output_usd_high,
    utilisation,
    evidence_grade,
    share_of_bound,
    is_current,
    last_observed_at,
    price_document_sha256 as document_sha256
from int.token_cost
where
    purchase_option = 'on_demand'
    and cost_rank = 1
    and utilisation = 0.7
    and all_in_output_usd_median is not null
    and last_observed_at >= $since::TIMESTAMP - interval 35 days
order by
    not is_current,
    evidence_grade,
    -count(*) over (partition by model_name, benchmark, scenario),
    model_name,
    benchmark,
    scenario,
    interactivity,
    all_in_output_usd_median,
    offer_id,
    throughput_id
limit 1
