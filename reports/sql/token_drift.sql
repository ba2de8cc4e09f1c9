-- What costs per token did over the windows, the front page's point first.
select * -- noqa: AM04
from int.token_drift
where purchase_option in ('on_demand', 'reserved', 'savings_plan', 'spot')
order by
    is_headline desc,
    model_name asc,
    purchase_option asc,
    commitment_class asc,
    accelerator_name <> 'all chips' asc,
    accelerator_name asc,
    window_days asc
