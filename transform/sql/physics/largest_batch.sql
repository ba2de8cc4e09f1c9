-- largest_batch(accelerators > 0, memory_gb > 0, weight_bytes > 0, kv_bytes >= 0): Sequences whose cache fits beside
-- the weights; 0 where the weights alone do not fit, NULL where a sequence needs no cache.
-- (n x C - W) / k, rounded down: n chips of C bytes, W bytes of weights, k of the cache of one sequence. Vendors' GB
-- count as 10^9 bytes; where they are GiB, the 7 % more stand for activations and the runtime.
-- Source: Pope et al. 2022, arXiv 2211.05102.
select
    case
        when accelerators::DOUBLE * memory_gb * 1e9 < weight_bytes then 0e0
        when kv_bytes > 0 then floor((accelerators::DOUBLE * memory_gb * 1e9 - weight_bytes) / kv_bytes)
    end as batch
