-- bytes_per_value(precision_name): Bytes of one number in a precision; NULL for a precision that is not known.
-- Microscaled formats carry a shared 8-bit scale: MXFP4, MXFP6 and MXFP8 one for 32 values, 4.25, 6.25 and 8.25 bits
-- (OCP Microscaling Formats 1.0); NVFP4 one for 16, 4.5 bits (NVIDIA, Introducing NVFP4, 2025).
-- fp4 and int4 are the bare 4 bits: no real format needs less. TF32 is kept as FP32.
select
    case
        when precision_name in ('fp32', 'tf32') then 4e0
        when precision_name in ('bf16', 'fp16') then 2e0
        when precision_name = 'mxfp8' then 1.03125e0
        when precision_name in ('fp8', 'int8') then 1e0
        when precision_name = 'mxfp6' then 0.78125e0
        when precision_name = 'fp6' then 0.75e0
        when precision_name = 'nvfp4' then 0.5625e0
        when precision_name = 'mxfp4' then 0.53125e0
        when precision_name in ('fp4', 'int4') then 0.5e0
    end as bytes
