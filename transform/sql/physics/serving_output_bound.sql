-- serving_output_bound(accelerators > 0, peak_tflops > 0, flop_per_token > 0, input_tokens >= 0, output_tokens > 0,
-- cache_hit_share between 0 and 1 := 0): Output tokens per second that the peak allows where input is computed too.
-- n x F / (flop x (1 + I x (1 - h) / O)): I input and O output tokens a request, h share of the input found in a cache.
-- Source: roofline, Williams et al. 2009, doi 10.1145/1498765.1498785, over input and output tokens together.
select
    accelerators * peak_tflops::DOUBLE * 1e12
    / (flop_per_token * (1e0 + input_tokens::DOUBLE * (1e0 - cache_hit_share) / output_tokens)) as tokens_per_second
