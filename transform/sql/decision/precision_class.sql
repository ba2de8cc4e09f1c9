-- precision_class(precision_name): Bits of a number, for what may be compared; NULL: unknown.
-- All formats of 4 bits are one class, with their scales or bare, as are those of 6, FP8 and INT8, and BF16 and FP16. A
-- format that physics.bytes_per_value does not know is equal to none.
select floor(8 * physics.bytes_per_value(precision_name))::INTEGER as bits
