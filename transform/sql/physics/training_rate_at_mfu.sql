-- Tokens per second that training makes at a share of the peak.
-- MFU x n x F / flop: n chips of F operations per second, flop operations a token. The precision of F is part of MFU.
-- Source: Chowdhery et al. 2022, arXiv 2204.02311, appendix B, solved for the rate.
select mfu * accelerators::DOUBLE * peak_tflops * 1e12 / flop_per_token as tokens_per_second
