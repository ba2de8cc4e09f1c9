-- What a million output tokens costs at one operating point on one provider's terms, the machine fully used.
select
    model_name,
    scenario,
    precision,
    decoding,
    interactivity,
    accelerator_name,
    service_provider_name,
    purchase_option,
    commitment_class,
    all_in_output_usd_median as usd_per_million_output_tokens,
    reach,
    cost_rank,
    age_days,
    evidence_grade,
    offer_id
from int.token_cost
where utilisation = 1
