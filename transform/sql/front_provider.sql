-- What each provider but AWS asks on demand for each chip: its cheapest within the limit of age, or else the last one
-- of a year, never ranked. Of several forms that of AWS's machine counts; is_form_unknown: none of its prices names it.
select
    p.accelerator_name,
    p.service_provider_name,
    p.tier,
    p.cheapest_price_usd as price_per_accelerator_hour_usd,
    p.is_ranked,
    c.form_factor is not null and p.form_factor is null as is_form_unknown,
    p.last_observed_at,
    p.offer_id
from int.provider_price as p
left join int.front_cell as c on p.accelerator_name = c.accelerator_name and c.cell = 'aws_on_demand'
where
    p.service_provider_name <> 'AWS'
    and p.purchase_option = 'on_demand'
    and p.cheapest_price_usd is not null
    and not p.is_floor
    and (p.price_rank is not null or not p.is_ranked)
    and p.last_observed_at > meta.built_at() - interval 365 days
    and (c.form_factor is null or p.form_factor is null or p.form_factor = c.form_factor)
qualify
    row_number() over (
        partition by p.accelerator_name, p.service_provider_name
        order by
            not p.is_ranked asc, is_form_unknown asc, if(p.is_ranked, null, p.last_observed_at::DATE) desc,
            p.cheapest_price_usd asc, p.offer_id asc
    ) = 1
