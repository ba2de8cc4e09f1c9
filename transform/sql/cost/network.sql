-- network(capacity_class, provider_name, unit_accelerators, instance_type): What joins machines for work on more chips
-- than one has. It is rack (an UltraServer or NVL72 and its fellows), cluster (sold as one, or AWS machines of 8 chips
-- or more with EFA: p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300, trn1, trn1n, trn2); NULL: nothing is said.
-- Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
select
    case
        when capacity_class = 'rack' then 'rack'
        when capacity_class = 'cluster' then 'cluster'
        when
            provider_name = 'AWS'
            and unit_accelerators >= 8
            and regexp_matches(instance_type, '^(p4d|p4de|p5|p5e|p5en|p6-b200|p6-b300|trn1|trn1n|trn2)[.]')
            then 'cluster'
    end as network
