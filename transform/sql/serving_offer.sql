-- Each operating point on each offer that can run it: int.serving_rate and the prices of units of that size.
select
    r.*, -- noqa: AM04
    p.* exclude (p.accelerator_name, p.chip_form_factor, p.unit_accelerators, p.network, p.source, p.document_sha256),
    p.source as price_source,
    p.document_sha256 as price_document_sha256
from int.serving_rate as r
inner join int.cost_price as p
    on
        r.accelerator_name = p.accelerator_name and r.chip_form_factor is not distinct from p.chip_form_factor
        and r.unit_accelerators = p.unit_accelerators and r.network is not distinct from p.network
