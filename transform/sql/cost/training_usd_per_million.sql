-- training_usd_per_million(paid_rate_usd > 0, tokens_per_second_per_accelerator > 0, overhead_share >= 0, goodput_share
-- between 0 and 1): USD to train on a million tokens.
-- P x 10^6 x (1 + overhead) / (3600 x rate a chip x goodput): overhead is work beside the measured one (evaluation
-- that is not in the rate, data, tests), goodput the share of running time that makes progress. The parts must not
-- overlap: checkpoints are in one of overhead, goodput and the loss of spot, never in two.
select
    paid_rate_usd::DOUBLE * 1e6 * (1e0 + overhead_share)
    / (3600e0 * tokens_per_second_per_accelerator * nullif(goodput_share, 0)) as usd
