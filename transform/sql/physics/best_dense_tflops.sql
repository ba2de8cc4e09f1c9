-- best_dense_tflops(dense_bf16_tflops, dense_fp16_tflops, dense_fp8_tflops, dense_fp4_tflops, dense_int8_tops): Fastest
-- dense peak published of a chip in any precision, TFLOP/s.
-- The peak to hold a rate against where no precision is named, so that nothing that the chip can do passes for
-- impossible. INT8 in TOP/s counts alike; NULL is a precision that the chip lacks or nobody published.
select greatest(dense_bf16_tflops, dense_fp16_tflops, dense_fp8_tflops, dense_fp4_tflops, dense_int8_tops) as tflops
