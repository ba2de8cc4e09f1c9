-- Tokens that pay for a move: one-off cost / saving a million x 10^6. NULL where nothing is saved: never.
select case when saving_usd_per_million > 0 then one_off_usd::DOUBLE / saving_usd_per_million * 1e6 end as tokens
