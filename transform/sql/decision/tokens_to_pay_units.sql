-- Output tokens a day at which so many units of one's own cost as much in a month as the hosted model.
select units::DOUBLE * unit_usd_per_month / hosted_usd_per_million * 1e6 * 24 / 730 as tokens_per_day
