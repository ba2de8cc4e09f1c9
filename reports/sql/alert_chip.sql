-- The chips that live sources price at present; where a chip is unknown, the machine or label as its provider names it.
select
    coalesce(p.accelerator_name, p.instance_type, p.accelerator_label) as chip,
    bool_and(p.accelerator_name is null) as is_unknown,
    list_sort(list(distinct p.service_provider_name)) as providers,
    count(*) as n_offers,
    min(p.valid_from) as first_seen_at
from int.accelerator_hour_price as p
inner join core.source as s on p.source = s.source
where p.is_current and s.kind = 'live'
group by coalesce(p.accelerator_name, p.instance_type, p.accelerator_label)
order by chip
