-- training_goodput(accelerators > 0): Share of the time in which a training on so many chips makes progress.
-- 1 - n / 45,561 x 16.7 / 60: chip-hours between two interruptions (466 in 54 days on 16,384 H100) and minutes that one
-- costs, work since the checkpoint and restart: a tenth of those days, as "higher than 90 %" was effective.
-- Source: Llama 3, arXiv 2407.21783, section 3.3.4.
select 1e0 - accelerators::DOUBLE / 45561 * 16.7e0 / 60 as ratio
