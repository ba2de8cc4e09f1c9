-- accelerators_for_load(tokens_per_day > 0, unit_accelerators > 0, tokens_per_second_per_accelerator > 0, utilisation
-- between 0 and 1): Chips to pay for a daily load, in whole units. Whole units whose working rate, used to U, makes it.
-- u x ceil(tokens a day / (86400 x rate a paid chip x U x u)).
select
    unit_accelerators * ceil(
        tokens_per_day::DOUBLE
        / (86400e0 * tokens_per_second_per_accelerator * nullif(utilisation, 0) * unit_accelerators)
    ) as accelerators
