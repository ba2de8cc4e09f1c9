-- break_even_tokens(one_off_usd >= 0, saving_usd_per_million): Tokens that pay for a move; NULL where nothing is saved.
-- One-off cost / saving a million x 10^6; nothing saved: never.
select case when saving_usd_per_million > 0 then one_off_usd::DOUBLE / saving_usd_per_million * 1e6 end as tokens
