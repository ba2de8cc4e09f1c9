-- blended(input_usd_per_million >= 0, output_usd_per_million >= 0, input_per_output >= 0): One price of a million
-- tokens at a ratio of input to output. (r x input + output) / (r + 1), where r input tokens come with each output
-- token.
-- Source: Artificial Analysis publishes r = 3 as price_1m_blended_3_to_1.
select (input_per_output::DOUBLE * input_usd_per_million + output_usd_per_million) / (input_per_output + 1) as usd
