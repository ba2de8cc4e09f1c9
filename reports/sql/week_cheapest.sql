-- The cheapest of each of the reader's chips when a week ended, by way to buy: price_rank 1 of int.provider_price and
-- of int.commitment_option, whose age counts from the week's end; of AWS's own on-demand prices that of the best rank.
with listed as (
    select
        accelerator_name,
        form_factor,
        purchase_option as way,
        cheapest_price_usd as price_usd,
        service_provider_name,
        tier,
        purchase_option,
        document_sha256,
        offer_id
    from int.provider_price
    where price_rank = 1 and purchase_option in ('on_demand', 'spot', 'capacity_block')
    union all by name
    select
        accelerator_name,
        form_factor,
        'aws_on_demand' as way,
        cheapest_price_usd as price_usd,
        service_provider_name,
        purchase_option,
        document_sha256,
        offer_id
    from int.provider_price
    where service_provider_name = 'AWS' and purchase_option = 'on_demand' and price_rank is not null
    qualify row_number() over (partition by accelerator_name, form_factor order by price_rank) = 1
    union all by name
    select
        accelerator_name,
        form_factor,
        case commitment_term_hours when 8760 then 'one_year' when 26280 then 'three_years' end as way,
        price_per_accelerator_hour_usd as price_usd,
        service_provider_name,
        purchase_payment_model,
        purchase_option,
        document_sha256,
        offer_id
    from int.commitment_option
    where service_provider_name = 'AWS' and price_rank = 1
)

select
    l.*, -- noqa: AM04
    o.availability_zone_id
from listed as l
left join core.offer as o on l.offer_id = o.offer_id
where l.way is not null and list_contains($chips, l.accelerator_name)
order by list_position($chips, l.accelerator_name) asc, l.form_factor desc nulls last, l.way asc
