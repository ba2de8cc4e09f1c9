-- Every series of the drift report, its windows side by side; a chip's own line before those of its providers.
select * -- noqa: AM04
from int.drift_report
order by
    index_level <> 'all',
    accelerator_name,
    purchase_option,
    index_level,
    service_provider_name,
    window_days
