-- memory_needed_gb(weight_bytes > 0, sequences > 0, kv_bytes >= 0): Memory that serving needs at least, GB.
-- (W + B x k) / 10^9: all weights, and the cache of every sequence in flight. Activations and the runtime's own share
-- come on top.
-- Source: Pope et al. 2022, arXiv 2211.05102.
select (weight_bytes + sequences::DOUBLE * kv_bytes) / 1e9 as gigabytes
