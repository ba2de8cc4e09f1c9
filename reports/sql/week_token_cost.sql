-- What a million output tokens costs on the reader's chips, by way to buy; what has no cost is left out.
select * -- noqa: AM04
from int.headline_token_cost
where usd_per_million_output_tokens is not null and list_contains($chips, accelerator_name)
order by list_position($chips, accelerator_name), option_kind, place
