-- net_saving(from_usd_per_month > 0, to_usd_per_month > 0, upkeep_usd_per_month >= 0): USD saved a month, upkeep paid;
-- negative where it costs more.
select from_usd_per_month::DOUBLE - to_usd_per_month - upkeep_usd_per_month as usd_per_month
