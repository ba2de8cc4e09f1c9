-- working_share(accelerators > 0, unit_accelerators > 0): Share of the chips paid that work. n chips run one copy and u
-- are sold at once.
-- n <= u: floor(u / n) x n / u, as many whole copies as a unit holds; n > u: n / (ceil(n / u) x u), whole units.
select
    case
        when accelerators <= unit_accelerators
            then floor(unit_accelerators::DOUBLE / accelerators) * accelerators / unit_accelerators
        else accelerators::DOUBLE / (ceil(accelerators::DOUBLE / unit_accelerators) * unit_accelerators)
    end as ratio
