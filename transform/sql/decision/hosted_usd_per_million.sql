-- hosted_usd_per_million(input_usd_per_million >= 0, output_usd_per_million >= 0, cached_usd_per_million >= 0,
-- input_per_output >= 0, cached_share between 0 and 1): USD a million output tokens and their input, hosted.
-- output + r x ((1 - s) x input + s x cached): r input tokens to each of output, of which a share s is charged at the
-- price of cached input. Where s is 0 none is needed.
select
    output_usd_per_million::DOUBLE
    + input_per_output
    * (
        (1 - cached_share) * input_usd_per_million
        + case when cached_share = 0 then 0e0 else cached_share * cached_usd_per_million end
    ) as usd
