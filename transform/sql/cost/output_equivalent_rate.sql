-- Output and input tokens as one rate, an input token counting as a part of an output token.
-- Tout + a x Tin uncached + ac x Tin cached.
-- Source: InferenceX (SemiAnalysis) takes a = 0.25 in its one number a chip.
select
    output_rate::DOUBLE + input_weight * uncached_input_rate + cached_input_weight * cached_input_rate
        as tokens_per_second
