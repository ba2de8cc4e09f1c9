-- shared_usd(price, running_share, rates, input_weight, utilisation): USD a million output tokens of one chip where
-- input pays its part, at the middle of the rates.
-- cost.split_output_usd at cost.paid_rate.
select
    cost.split_output_usd(
        cost.paid_rate(price, running_share), rates['median_output_rate'], rates['median_input_rate'], input_weight,
        utilisation
    ) as usd
