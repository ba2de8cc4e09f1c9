-- Upkeep of a ported stack: days of work at each release of its SDK x 8 hours x USD an hour x releases a year / 12.
select days_per_release::DOUBLE * 8 * usd_per_engineer_hour * releases_per_year / 12 as usd_per_month
