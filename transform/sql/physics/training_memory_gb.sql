-- training_memory_gb(parameters > 0, bytes_per_parameter > 0 := 16): Memory of weights, gradients and optimizer in
-- training, GB.
-- 16 bytes a parameter for Adam in mixed precision: weight 2, gradient 2, master weight 4, two moments 4 each. GB are
-- 10^9 bytes, without activations.
-- Source: Rajbhandari et al. 2020 (ZeRO), arXiv 1910.02054, section 3.1.
select parameters::DOUBLE * bytes_per_parameter / 1e9 as gigabytes
