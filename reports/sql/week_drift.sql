-- What providers' chips did like for like from the end of the day before a week to the end of its last day; series that
-- did not drift are left out.
select * -- noqa: AM04
from mart.drift($before, $last)
where index_level = 'provider' and drift is not null and abs(drift) >= 0.0005
order by purchase_option <> 'on_demand', -abs(drift), service_provider_name, accelerator_name, purchase_option
