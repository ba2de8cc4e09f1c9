-- measured_input_weight(prefill_accelerators > 0, input_rate > 0, decode_accelerators > 0, output_rate > 0): What an
-- input token costs in output tokens, where each has chips of its own.
-- (prefill chips / input rate) / (decode chips / output rate).
select (prefill_accelerators::DOUBLE / input_rate) / (decode_accelerators::DOUBLE / output_rate) as weight
