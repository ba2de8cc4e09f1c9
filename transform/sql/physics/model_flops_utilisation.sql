-- model_flops_utilisation(tokens_per_second > 0, accelerators > 0, peak_tflops > 0, flop_per_token > 0): Share of the
-- peak that a rate implies. Above 1 is impossible at that peak.
-- rate x flop / (n x F): the same run is 0.87 of a BF16 and 0.43 of an FP8 peak, so name the precision of F.
-- Source: Chowdhery et al. 2022, arXiv 2204.02311, appendix B.
select tokens_per_second::DOUBLE * flop_per_token / (accelerators * peak_tflops::DOUBLE * 1e12) as ratio
