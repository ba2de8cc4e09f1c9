-- engineering_cost(weeks >= 0, engineers >= 0, usd_per_engineer_hour >= 0): USD for the work of a move. weeks x 40
-- hours x engineers x USD an hour of one of them.
select weeks::DOUBLE * 40 * engineers * usd_per_engineer_hour as usd
