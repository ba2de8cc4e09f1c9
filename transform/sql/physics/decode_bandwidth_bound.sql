-- Output tokens per second that generation cannot exceed, as each step must read its weights and cache.
-- a x B x n x BW / (W + B x k): a tokens accepted a step (1 without speculation, at most draft length + 1),
-- B sequences, n chips of BW bytes/s, W weight bytes read a step, k cache bytes of one sequence.
-- Source: roofline, Williams et al. 2009, doi 10.1145/1498765.1498785; Pope et al. 2022, arXiv 2211.05102.
select
    accepted_tokens::DOUBLE * sequences * accelerators * memory_bandwidth_tb_s * 1e12
    / (weight_bytes + sequences::DOUBLE * kv_bytes) as tokens_per_second
