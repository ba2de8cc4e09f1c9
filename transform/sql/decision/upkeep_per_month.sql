-- upkeep_per_month(days_per_release >= 0, releases_per_year >= 0, usd_per_engineer_hour >= 0): USD a month of work at
-- each release of an SDK. Days of work at each release x 8 hours x USD an hour x releases a year / 12.
select days_per_release::DOUBLE * 8 * usd_per_engineer_hour * releases_per_year / 12 as usd_per_month
