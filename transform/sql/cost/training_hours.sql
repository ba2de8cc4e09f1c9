-- training_hours(tokens > 0, accelerators > 0, tokens_per_second_per_accelerator > 0, overhead_share >= 0,
-- goodput_share between 0 and 1): Hours to train on so many tokens. tokens x (1 + overhead) / (3600 x n x rate a chip x
-- goodput).
select
    tokens::DOUBLE * (1e0 + overhead_share)
    / (3600e0 * accelerators * tokens_per_second_per_accelerator * nullif(goodput_share, 0)) as hours
