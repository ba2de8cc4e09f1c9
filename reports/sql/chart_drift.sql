-- The drift index of $chips under $option from $since to $until, of each provider and (no provider) of a chip: the days
-- on which a chain begins, at 100, moves or was last seen, without what is carried on after that.
select
    accelerator_name,
    service_provider_name,
    chain_number,
    index_date,
    price_index
from int.price_index
where
    index_level in ('provider', 'chip')
    and accelerator_name in (select unnest($chips))
    and purchase_option = $option
    and index_date between $since and $until
    and price_index is not null
    and n_carried < n_items
window w as (partition by accelerator_name, service_provider_name, chain_number order by index_date)
qualify coalesce(abs(price_index / lag(price_index) over w - 1) > 1e-9, true) or lead(index_date) over w is null
order by accelerator_name asc, service_provider_name asc nulls last, chain_number asc, index_date asc
