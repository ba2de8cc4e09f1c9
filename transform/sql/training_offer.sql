-- Each measured training on each offer that can run it: int.training_rate and the prices of units of that size.
-- form_factor is the offer's.
select
    r.* exclude (r.form_factor), -- noqa: AM04
    p.* exclude (p.accelerator_name, p.chip_form_factor, p.unit_accelerators, p.network, p.source, p.document_sha256),
    p.source as price_source,
    p.document_sha256 as price_document_sha256
from int.training_rate as r
inner join int.cost_price as p
    on
        r.accelerator_name = p.accelerator_name and r.chip_form_factor is not distinct from p.chip_form_factor
        and r.unit_accelerators = p.unit_accelerators and r.network is not distinct from p.network
