-- What an input token costs in output tokens, from a run that has chips of their own for each.
-- (prefill chips / input rate) / (decode chips / output rate).
select (prefill_accelerators::DOUBLE / input_rate) / (decode_accelerators::DOUBLE / output_rate) as weight
