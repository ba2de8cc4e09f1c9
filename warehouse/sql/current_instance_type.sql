-- The newest fact of each instance type that was in force when the file was built.
select i.* -- noqa: AM04
from ref.instance_type as i
cross join meta.build as b
where i.known_from is null or i.known_from <= b.built_at
qualify row_number() over (partition by i.instance_type order by i.known_from desc nulls last) = 1
