-- Each charge of a bill in FOCUS or CUR (https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html),
-- as hours of a machine, which the usage type names (USW2-BoxUsage:p5.48xlarge), else SkuPriceDetails as JSON or a map,
-- or why it is none. A CUR has no list cost of reserved machines. RunInstances is Linux. Wide decimals are slow.
with worded as (
    select
        *,
        regexp_extract(
            coalesce(if(contains(sku_meter, ':'), sku_meter, sku_details), ''),
            '((^|-)(BoxUsage|SpotUsage|UnusedBox):|\bInstanceType\W+)([a-z0-9-]+[.][a-z0-9-]+)($|["},])', 4
        ) as machine,
        coalesce(operation, regexp_extract(sku_details, '\bOperatingSystem\W+(\w[^"},]*)', 1), '') as system,
        coalesce(try_cast(quantity as DECIMAL(18, 10)), try_cast(quantity as DECIMAL(28, 10))) as hours,
        coalesce(try_cast(listed as DECIMAL(18, 10)), try_cast(listed as DECIMAL(28, 10))) as list_amount,
        if(pricing_category = 'DiscountedUsage', null, contracted) as agreed,
        coalesce(try_cast(agreed as DECIMAL(18, 10)), try_cast(agreed as DECIMAL(28, 10))) as contracted_amount,
        case pricing_category
            when 'SavingsPlanCoveredUsage' then plan_effective
            when 'DiscountedUsage' then reserved_effective
            else effective
        end as paid,
        coalesce(try_cast(paid as DECIMAL(18, 10)), try_cast(paid as DECIMAL(28, 10))) as effective_amount,
        try_cast(charge_period_start as TIMESTAMPTZ) as starts_at,
        try_cast(charge_period_end as TIMESTAMPTZ) as ends_at,
        ends_at > starts_at and ends_at <= starts_at + interval 32 day
        and year(starts_at) between 2006 and 2099 as is_period,
        charge_category in ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage') as is_usage,
        case
            when pricing_category = 'Dynamic' or sku_meter like '%SpotUsage:%' then 'spot'
            when pricing_category in ('Standard', 'Usage') then 'on_demand'
            when commitment_discount_type ilike '%saving%' then 'savings_plan'
            when pricing_category = 'DiscountedUsage' or commitment_discount_type ilike '%reserv%' then 'reserved'
        end as purchase_option,
        case
            when commitment_discount_type ilike '%ec2%saving%' then 'EC2Instance'
            when commitment_discount_type ilike '%compute%saving%' then 'Compute'
        end as plan_kind
    from focus_row
)

select
    {
        'provider': 'AWS', 'offer': machine, 'region': region_id, 'option': purchase_option, 'plan': plan_kind,
        'term': term, 'payment': payment, 'offering_class': offering_class,
        'commitment_end': (try_cast(commitment_end_at as TIMESTAMPTZ) - interval 1 second)::DATE,
        'billed_currency': billing_currency
    } as kind,
    resource_id,
    file,
    apart,
    starts_at,
    ends_at,
    hours,
    list_amount,
    contracted_amount,
    effective_amount,
    machine <> '' and is_usage and coalesce(charge_class, '') <> 'Correction' and is_period as is_of_machine,
    case
        when provider not ilike 'aws%' and provider not ilike 'amazon%' then 'of ' || provider[:60] || ', not of AWS'
        when regexp_matches(sku_meter, ':ml[.][a-z0-9-]+[.]') then 'hours of a machine of SageMaker, whatever its kind'
        when coalesce(service_category, '') not in ('Compute', 'AmazonEC2') then 'not of the service category Compute'
        when not coalesce(is_usage, false) then 'no usage: a purchase, tax, credit or adjustment'
        when charge_class = 'Correction' then 'a correction of an earlier bill'
        when commitment_discount_status = 'Unused' then 'the unused part of a commitment, which names no machine'
        when machine = '' then 'no hours of a machine of shared tenancy: storage, transfer, hosts and the like'
        when machine not in (select t.instance_type from accelerator_type as t) then 'a machine without accelerators'
        when sku_meter like '%UnusedBox:%' or capacity_status = 'Unused'
            then 'the unused part of a capacity reservation, paid as on demand'
        when operation = 'RunInstances:CB' then 'hours within a Capacity Block, which is paid as a purchase'
        when not regexp_matches(system, '^(RunInstances(:SV\d+)?|Linux)$') then 'not stated to be plain Linux'
        when lower(coalesce(pricing_unit, '')) not in ('hrs', 'hr', 'hour', 'hours') then 'its unit is not the hour'
        when hours is null or hours <= 0 then 'its quantity is no number above 0'
        when not coalesce(is_period, false) then 'its charge period is none, or longer than a month'
        when region_id is null then 'it names no region'
        when purchase_option is null then 'how it was bought is not known'
        when purchase_option = 'on_demand' and list_amount = 0 then 'its list cost is 0, as within a Capacity Block'
        when effective_amount is null or (list_amount is null and purchase_option <> 'spot') then 'a cost is no number'
        when contracted_amount is null and pricing_category <> 'DiscountedUsage' then 'a cost is no number'
    end as reason
from worded
