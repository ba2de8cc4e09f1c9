-- runs_on(run_accelerators, run_form_factor, unit_accelerators, network_name): Whether a run counts for a unit.
-- For units of at least as many chips, and for more units than one only where a network joins them; a run on an NVL72
-- needs a rack.
select
    run_accelerators <= unit_accelerators
    or coalesce(network_name = 'rack', false)
    or coalesce(network_name = 'cluster' and run_form_factor is distinct from 'NVL72', false) as counts
