-- forward_compute_bound(accelerators > 0, peak_tflops > 0, flop_per_token > 0): Tokens per second that the peak allows,
-- input and output alike.
-- n x F / flop: n chips of F operations per second at peak, flop operations a token.
-- Source: roofline, Williams et al. 2009, doi 10.1145/1498765.1498785.
select accelerators * peak_tflops::DOUBLE * 1e12 / flop_per_token as tokens_per_second
