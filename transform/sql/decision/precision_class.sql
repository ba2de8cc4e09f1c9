-- precision_class(precision_name): Bits of a number, for what may be compared; NULL: unknown.
-- All formats of 4 bits are one class, with their scales or bare, as are FP8 and INT8, and BF16 and FP16. A format that
-- physics.bytes_per_value does not know is equal to none.
select
    case
        when physics.bytes_per_value(precision_name) < 1 then 4
        else (8 * physics.bytes_per_value(precision_name))::INTEGER
    end as bits
