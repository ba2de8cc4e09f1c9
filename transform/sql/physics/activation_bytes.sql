-- activation_bytes(step_tokens >= 0, hidden_size > 0, chips > 0): Bytes of one layer's activations on all chips that it
-- is split over. tokens x hidden size x (10 x n + 24), at 16 bits: of 34 parts 10 lie on each chip, 24 are split.
-- Source: Korthikanti et al. 2022, arXiv 2205.05198, equation 2, without the scores of attention.
select step_tokens::DOUBLE * hidden_size * (10 * chips + 24) as bytes
