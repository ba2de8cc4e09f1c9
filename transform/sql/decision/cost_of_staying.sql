-- What the old side costs over a horizon.
select horizon_months::DOUBLE * from_usd_per_month as usd
