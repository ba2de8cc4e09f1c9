-- What each provider asks for each chip: of each form, purchase option and length of commitment the row of its best
-- price_rank, or else the last one that was known. Options are never mixed.
select
    p.*, -- noqa: AM04
    coalesce(p.cheapest_price_usd, p.median_price_usd) as price_usd,
    p.cheapest_price_usd is null as is_median,
    a.price_per_neuron_core_hour
from int.provider_price as p
left join int.accelerator_hour_price as a on p.offer_id = a.offer_id
where
    p.accelerator_name is not null and p.service_provider_name is not null and p.last_observed_at is not null
    and coalesce(p.cheapest_price_usd, p.median_price_usd) is not null
qualify
    row_number() over (
        partition by
            p.accelerator_name, p.form_factor, p.service_provider_name, p.purchase_option, p.commitment_class
        order by
            p.price_rank asc nulls last, p.is_ranked desc, p.is_floor asc, p.last_observed_at desc, p.offer_id asc
    ) = 1
order by
    p.accelerator_name asc,
    p.form_factor desc nulls last,
    p.purchase_option <> 'on_demand' asc,
    p.price_rank asc nulls last,
    p.service_provider_name asc,
    array_position(['under_a_year', 'one_year', 'two_years', 'three_years', 'longer'], p.commitment_class) asc,
    p.offer_id asc
