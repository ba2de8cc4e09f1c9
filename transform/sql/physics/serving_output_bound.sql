-- Output tokens per second that serving cannot exceed where each request brings input that must be computed too.
-- n x F / (flop x (1 + I x (1 - h) / O)): I input and O output tokens a request, h share of the input found in a cache.
-- Source: roofline, Williams et al. 2009, doi 10.1145/1498765.1498785, over input and output tokens together.
select
    accelerators * peak_tflops::DOUBLE * 1e12
    / (flop_per_token * (1e0 + input_tokens::DOUBLE * (1e0 - cache_hit_share) / output_tokens)) as tokens_per_second
