-- split_output_usd(paid_rate_usd, output_rate, input_rate, input_weight, utilisation): USD a million output tokens
-- where input pays its part of the machine.
-- USD a million output tokens where input pays its part of the machine: an input token counts as `input_weight` of an
-- output token, cached or not. A million input tokens costs input_weight times as much.
select
    cost.usd_per_million_tokens(
        paid_rate_usd, 1, cost.output_equivalent_rate(output_rate, input_rate, 0, input_weight, 0), utilisation
    ) as usd
