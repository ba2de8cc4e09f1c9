-- The form of an AWS machine's chips; the table is filled anew from the package whenever the file is opened.

drop table core.instance_type;

create table core.instance_type (
    instance_type VARCHAR,
    accelerator_name VARCHAR,
    accelerator_vendor VARCHAR,
    accelerator_kind VARCHAR,
    accelerator_count DECIMAL(10, 4),
    capacity_unit VARCHAR,
    accelerator_memory_gib DECIMAL(10, 4),
    neuron_cores_per_accelerator INTEGER,
    form_factor VARCHAR,
    known_from DATE,
    override_reason VARCHAR,
    source_url VARCHAR,
    accessed_on DATE
);
