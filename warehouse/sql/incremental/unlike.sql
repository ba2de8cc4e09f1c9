-- What all offers' rows rest on, where it differs from the file before: how far a source is believed, and which chips
-- are none of ours.
select h.source as differing
from core.source as h
full join before.core.source as b on h.source = b.source
where hash(h) is distinct from hash(b) -- noqa: RF02
union all
select coalesce(h.instance_type, b.instance_type) as differing
from ref.current_instance_type as h
full join before.ref.current_instance_type as b on h.instance_type = b.instance_type
where
    (h.accelerator_kind is distinct from b.accelerator_kind or h.accelerator_name is distinct from b.accelerator_name)
    and ('fpga' in (h.accelerator_kind, b.accelerator_kind) or 'media' in (h.accelerator_kind, b.accelerator_kind))
