-- What the work of a move costs: weeks x 40 hours x engineers x USD an hour of one of them.
select weeks::DOUBLE * 40 * engineers * usd_per_engineer_hour as usd
