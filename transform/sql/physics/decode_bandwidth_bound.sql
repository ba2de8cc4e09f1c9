-- decode_bandwidth_bound(accelerators > 0, memory_bandwidth_tb_s > 0, weight_bytes > 0, sequences > 0, kv_bytes >= 0,
-- accepted_tokens > 0 := 1): Output tokens per second that memory bandwidth allows. Each step must read its weights and
-- cache.
-- a x B x n x BW / (W + B x k): a tokens accepted a step (1 without speculation, at most draft length + 1),
-- B sequences, n chips of BW bytes/s, W weight bytes read a step, k cache bytes of one sequence.
-- Source: roofline, Williams et al. 2009, doi 10.1145/1498765.1498785; Pope et al. 2022, arXiv 2211.05102.
select
    accepted_tokens::DOUBLE * sequences * accelerators * memory_bandwidth_tb_s * 1e12
    / (weight_bytes + sequences::DOUBLE * kv_bytes) as tokens_per_second
