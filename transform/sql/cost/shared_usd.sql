-- shared_usd(price, running_share, rates, input_weight, utilisation): USD a million output tokens of one chip where
-- input pays its part, at the middle of the rates: an input token counts as `input_weight` of an output token, cached
-- or not. A million input tokens costs input_weight times as much.
-- Source: InferenceX (SemiAnalysis) takes a weight of 0.25 in its one number a chip.
select
    cost.bought_usd(
        price, running_share, rates['median_output_rate'] + input_weight * rates['median_input_rate'], utilisation
    ) as usd
