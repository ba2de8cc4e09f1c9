-- is_open_to_all(provider_name, machine_type, region_name): Whether anybody can buy a machine there for any use. At AWS
-- not SageMaker's types, nor partitions that need an account of their own (China, GovCloud and the like).
select
    provider_name <> 'AWS'
    or (
        coalesce(machine_type, '') not like 'ml.%'
        and not regexp_matches(coalesce(region_name, ''), '^(cn|us-gov|us-iso[a-z]*|eu-iso[a-z]*|eusc)-')
    ) as is_open
