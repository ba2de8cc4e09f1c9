-- cost_of_staying(horizon_months > 0, from_usd_per_month > 0): USD of the old side over a horizon.
select horizon_months::DOUBLE * from_usd_per_month as usd
