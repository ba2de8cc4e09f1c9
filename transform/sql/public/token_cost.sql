-- What a million output tokens costs at one operating point under each way to buy the chips, at full load. cost_rank 1
-- is the cheapest of its point and way to buy; cost_basis says how the rate is known, or why there is no cost.
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
    offer_terms,
    usd_per_million_output_tokens,
    cost_basis,
    cost_rank,
    age_days,
    offer_id
from int.token_option
