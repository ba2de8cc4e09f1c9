-- What each provider asks for each chip at one kind of terms, in US dollars per chip-hour. price_rank 1 is the cheapest
-- of its chip, form, purchase option and commitment class; NULL: never ranked.
select
    accelerator_name,
    form_factor,
    service_provider_name,
    purchase_option,
    commitment_class,
    capacity_class,
    tier,
    cheapest_price_usd,
    median_price_usd,
    price_rank,
    distance_to_aws,
    age_days,
    is_ranked,
    evidence_kind,
    offer_id
from int.provider_price
