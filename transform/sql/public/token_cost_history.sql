-- What a million output tokens cost at best from one day to another, by the prices of then and the official runs known
-- by then; accelerator_name all chips is the cheapest of all. The three effects are logs and add up to the step.
select
    model_name,
    scenario,
    precision,
    decoding,
    interactivity,
    accelerator_name,
    purchase_option,
    commitment_class,
    valid_from,
    valid_to,
    usd_per_million_output_tokens,
    price_effect,
    evidence_effect,
    new_chip_effect,
    offer_id
from int.token_cost_history
where coalesce(evidence_grade, 'A') = 'A'
