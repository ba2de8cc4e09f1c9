-- The newest fact of each instance type that was in force when the file was built.
select
    i.instance_type,
    i.accelerator_name,
    i.accelerator_vendor,
    i.accelerator_kind,
    i.accelerator_count,
    i.capacity_unit,
    i.accelerator_memory_gib,
    i.neuron_cores_per_accelerator,
    i.form_factor,
    i.known_from,
    i.override_reason,
    i.source_url,
    i.accessed_on
from ref.instance_type as i
cross join meta.build as b
where i.known_from is null or i.known_from <= b.built_at
qualify row_number() over (partition by i.instance_type order by i.known_from desc nulls last) = 1
