-- Where the chain of each series stood before a day, for the days that are made from there on.
select
    index_level,
    service_provider_name,
    accelerator_name,
    purchase_option,
    chain_number,
    coalesce(sum(drift_log::DECIMAL(18, 15)), 0) as index_log
from int.price_index
where index_date < (select min(since) from index_day)
group by index_level, service_provider_name, accelerator_name, purchase_option, chain_number
qualify
    chain_number = max(chain_number) over (
        partition by index_level, service_provider_name, accelerator_name, purchase_option
    )
