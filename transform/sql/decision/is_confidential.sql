-- is_confidential(tier_name, machine_type): Whether it is a machine for confidential computing, which costs extra.
-- By its tier, or by its name at Azure (Standard_NCC40ads_H100_v5) and Verda (1RTXPRO6000CC.30V).
-- Source: https://github.com/MicrosoftDocs/azure-compute-docs/blob/05e75b14/articles/virtual-machines/sizes, series
-- NCCads H100 v5.
select
    coalesce(tier_name = 'confidential computing', false)
    or regexp_matches(coalesce(machine_type, ''), '^(Standard_NCC|[0-9]+[A-Z0-9]+CC[.])') as confidential
