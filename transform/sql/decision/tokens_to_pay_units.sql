-- tokens_to_pay_units(units > 0, unit_usd_per_month > 0, hosted_usd_per_million > 0): Output tokens a day at which
-- units of one's own cost as much as the hosted model.
select units::DOUBLE * unit_usd_per_month / hosted_usd_per_million * 1e6 * 24 / 730 as tokens_per_day
