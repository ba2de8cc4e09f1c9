-- hosted_usd_per_million(input_usd_per_million >= 0, output_usd_per_million >= 0, cached_usd_per_million >= 0,
-- input_per_output >= 0, cached_share between 0 and 1): USD a million output tokens and their input, hosted.
-- What a hosted model costs for a million output tokens and the input that comes with them; cached_share of the input
-- is charged at its own price: output + r x ((1 - s) x input + s x cached). Where s is 0 no price of cached input is
-- needed.
select
    output_usd_per_million::DOUBLE
    + input_per_output
    * (
        (1 - cached_share) * input_usd_per_million
        + case when cached_share = 0 then 0e0 else cached_share * cached_usd_per_million end
    ) as usd
