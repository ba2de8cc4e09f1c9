-- commitment_class(option_name, term_hours): How long one is bound by a purchase option and its term in hours, in
-- words. none (on demand), interruptible (spot), under_a_year (shorter terms and Capacity Blocks), one_year, two_years,
-- three_years, longer, by whole years of 8,760 hours; NULL where the length is not stated.
select
    case
        when option_name = 'on_demand' then 'none'
        when option_name = 'spot' then 'interruptible'
        when option_name = 'capacity_block' or term_hours < 8760 then 'under_a_year'
        when term_hours < 2 * 8760 then 'one_year'
        when term_hours < 3 * 8760 then 'two_years'
        when term_hours < 4 * 8760 then 'three_years'
        when term_hours is not null then 'longer'
    end as commitment_class
