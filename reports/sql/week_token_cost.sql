-- What a million output tokens costs on the reader's chips, by way to buy; what has no cost is left out.
select
    accelerator_name,
    option_kind,
    place,
    service_provider_name,
    usd_per_million_output_tokens,
    cost_basis,
    price_kind,
    document_sha256,
    offer_id
from int.headline_token_cost
where usd_per_million_output_tokens is not null and list_contains($chips, accelerator_name)
order by list_position($chips, accelerator_name), option_kind, place
