-- What the chips of $chips did in 90 days over all providers, on demand, like for like.
select * -- noqa: AM04
from int.drift_report
where
    index_level = 'chip'
    and purchase_option = 'on_demand'
    and window_days = 90
    and accelerator_name in (select unnest($chips))
