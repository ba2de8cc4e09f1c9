-- The like-for-like index of each series by day: one provider's prices of a chip, all providers', or all chips'.
select
    index_level,
    service_provider_name,
    accelerator_name,
    purchase_option,
    index_date,
    chain_number,
    price_index,
    drift_log,
    mix_effect,
    median_price_usd,
    lowest_price_usd,
    n_items,
    n_moved,
    is_thin,
    is_provisional
from int.price_index
