-- What one capacity unit of each offer is, and the hours that its unit_price buys: the one rule by which prices of
-- machines, of chips, of slices, of minutes and of months become prices per chip-hour.
-- Chips of an AWS type are those of ref.instance_type (SageMaker's ml.p5.48xlarge has those of p5.48xlarge); anywhere
-- else they are the offer's own count of what its label means. A label that is unknown, or a slice of unknown size, has
-- no price per chip. capacity_class is what has to be bought at once:
--   rack      an UltraServer, or chips sold as an NVL72 domain
--   cluster   8 chips or more on a named fabric other than plain Ethernet, a tier that says cluster, or TPUs by the
--             chip, of which one buys a slice of a pod: https://cloud.google.com/tpu/docs/system-architecture-tpu-vm
--   node      8 chips or more; several: 2 to 7; single: 1; fraction: less; NULL: of a price per chip nothing is said
with known as (
    select
        o.*,
        coalesce(t.accelerator_name, l.accelerator_name) as chip,
        coalesce(t.accelerator_vendor, l.accelerator_vendor) as vendor,
        coalesce(t.form_factor, l.form_factor) as form_factor,
        coalesce(t.accelerator_memory_gib, l.accelerator_memory_gib) as memory_gib,
        t.neuron_cores_per_accelerator,
        case
            when t.instance_type is not null then coalesce(o.accelerator_count, t.accelerator_count)
            when o.accelerator_label is not null then (o.accelerator_count * l.accelerator_share)::DECIMAL(10, 4)
        end as chips
    from core.offer as o
    left join ref.current_instance_type as t
        on
            case when o.service_provider_name = 'AWS' then regexp_replace(o.instance_type, '^ml[.]', '') end
            = t.instance_type
    left join ref.accelerator_label as l
        on o.service_provider_name = l.service_provider_name and o.accelerator_label = l.accelerator_label
)

select
    offer_id,
    chip as accelerator_name,
    vendor as accelerator_vendor,
    form_factor,
    memory_gib as accelerator_memory_gib,
    chips as accelerator_count,
    neuron_cores_per_accelerator,
    case pricing_unit when 'Minutes' then 1 / 60 when 'Months' then 730 else 1 end::DOUBLE as hours_per_pricing_unit,
    case
        when capacity_unit = 'UltraServer' or form_factor = 'NVL72' then 'rack'
        when tier ilike '%cluster%' then 'cluster'
        when fabric not ilike '%ethernet%' and chips * coalesce(minimum_quantity, 1) >= 8 then 'cluster'
        when capacity_unit = 'GPU' and minimum_quantity is null then if(chip like 'TPU-%', 'cluster', null)
        when chips * coalesce(minimum_quantity, 1) >= 8 then 'node'
        when chips * coalesce(minimum_quantity, 1) > 1 then 'several'
        when chips * coalesce(minimum_quantity, 1) = 1 then 'single'
        when chips > 0 then 'fraction'
    end as capacity_class
from known
