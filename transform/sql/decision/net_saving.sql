-- What a month on the new side saves, its upkeep paid; negative where it costs more.
select from_usd_per_month::DOUBLE - to_usd_per_month - upkeep_usd_per_month as usd_per_month
