-- What a million output tokens costs at one operating point under each way to buy the chips, at full load. cost_rank 1
-- is the cheapest of its point, way to buy and kind of price; cost_basis says how the rate is known, or why none is.
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
    case
        when is_cost_ranked
            then rank() over (
                partition by
                    model_name, task, scenario, benchmark_family, benchmark, precision, input_length, output_length,
                    decoding, interactivity, interactivity_statistic, purchase_option, commitment_class, price_kind,
                    is_cost_ranked
                order by usd_per_million_output_tokens
            )
    end as cost_rank,
    age_days,
    offer_id
from int.token_option
