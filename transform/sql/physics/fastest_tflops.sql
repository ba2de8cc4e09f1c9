-- fastest_tflops(chip): Fastest dense peak of a row of ref.accelerator in any precision, TFLOP/s.
-- physics.best_dense_tflops of its peaks.
select
    physics.best_dense_tflops(
        chip['dense_bf16_tflops'], chip['dense_fp16_tflops'], chip['dense_fp8_tflops'], chip['dense_fp4_tflops'],
        chip['dense_int8_tops']
    )::DOUBLE as tflops
