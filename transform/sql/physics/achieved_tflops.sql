-- achieved_tflops(tokens_per_second > 0, flop_per_token > 0): TFLOP/s of the model's own work that a rate implies.
-- rate x flop / 10^12, flop operations a token.
-- Source: Chowdhery et al. 2022, arXiv 2204.02311, appendix B.
select tokens_per_second::DOUBLE * flop_per_token / 1e12 as tflops
