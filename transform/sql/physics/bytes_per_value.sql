-- bytes_per_value(precision_name): Bytes of one number in a precision; NULL for a precision that is not known.
-- Microscaled formats carry a shared 8-bit scale: MXFP4 one for 32 values, 4.25 bits (OCP Microscaling Formats
-- 1.0); NVFP4 one for 16, 4.5 bits (NVIDIA, Introducing NVFP4, 2025).
-- fp4 and int4 are the bare 4 bits: no real format needs less.
select
    case precision_name
        when 'fp32' then 4e0
        when 'bf16' then 2e0
        when 'fp16' then 2e0
        when 'fp8' then 1e0
        when 'int8' then 1e0
        when 'nvfp4' then 0.5625e0
        when 'mxfp4' then 0.53125e0
        when 'fp4' then 0.5e0
        when 'int4' then 0.5e0
    end as bytes
