-- output_equivalent_rate(output_rate > 0, uncached_input_rate >= 0, cached_input_rate >= 0, input_weight >= 0,
-- cached_input_weight >= 0): Output and input as one rate of output tokens.
-- Tout + a x Tin uncached + ac x Tin cached.
-- Source: InferenceX (SemiAnalysis) takes a = 0.25 in its one number a chip.
select
    output_rate::DOUBLE + input_weight * uncached_input_rate + cached_input_weight * cached_input_rate
        as tokens_per_second
