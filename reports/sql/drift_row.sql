-- Every series of the drift report, its windows side by side; a chip's own line before those of its providers.
select
    index_level,
    service_provider_name,
    accelerator_name,
    purchase_option,
    window_days,
    window_begins_on,
    window_ends_on,
    drift,
    drift_method,
    level_change,
    mix_effect,
    n_items_before,
    n_items_after,
    n_matched,
    n_moved,
    unknown_reason,
    sparkline,
    spark_days
from int.drift_report
order by
    index_level <> 'all',
    accelerator_name,
    purchase_option,
    index_level,
    service_provider_name,
    window_days
