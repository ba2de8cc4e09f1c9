-- training_rate_at_mfu(mfu between 0 and 1, peak_tflops > 0, flop_per_token > 0, accelerators > 0 := 1): Tokens per
-- second of training at a share of the peak.
-- MFU x n x F / flop: n chips of F operations per second, flop operations a token. The precision of F is part of MFU.
-- Source: Chowdhery et al. 2022, arXiv 2204.02311, appendix B, solved for the rate.
select mfu * accelerators::DOUBLE * peak_tflops * 1e12 / flop_per_token as tokens_per_second
