-- The range of a price per chip-hour in US dollars outside of which a chip's price is taken for a fault of reading. It
-- is a judgement, wide on purpose: a wrong count of chips, unit or currency leaves it, a price war does not.
-- Interruptible prices have a fifth of the lower limit.
select
    band.accelerator_name,
    band.limit_low::DOUBLE as limit_low,
    band.limit_high::DOUBLE as limit_high
from (
    values
    ('B300', 1.5, 40), ('GB300', 1.5, 40), ('B200', 0.5, 40), ('GB200', 1, 40),
    ('H200', 0.3, 25), ('GH200', 0.3, 25), ('H100', 0.2, 25), ('H20', 0.2, 15),
    ('A100', 0.1, 12), ('A100-80GB', 0.1, 12), ('A100-40GB', 0.1, 12), ('A800', 0.1, 12),
    ('MI355X', 0.5, 25), ('MI350X', 0.5, 25), ('MI325X', 0.4, 20), ('MI300X', 0.3, 20), ('MI250', 0.1, 10),
    ('Trainium1', 0.05, 10), ('Trainium2', 0.1, 20), ('Trainium3', 0.2, 30),
    ('Inferentia1', 0.01, 3), ('Inferentia2', 0.05, 8),
    ('Gaudi1', 0.05, 8), ('Gaudi2', 0.1, 12), ('Gaudi3', 0.2, 20),
    ('TPU-v5e', 0.05, 8), ('TPU-v5p', 0.2, 20), ('TPU-v6e', 0.1, 15), ('TPU-v7', 0.5, 40),
    ('L40S', 0.1, 12), ('L40', 0.08, 8), ('L4', 0.05, 16), ('A10G', 0.05, 10), ('A10', 0.05, 6), ('A30', 0.05, 6),
    ('A40', 0.05, 6), ('A16', 0.02, 4), ('T4', 0.02, 10), ('T4G', 0.02, 6), ('V100', 0.02, 12), ('P100', 0.02, 5),
    ('P40', 0.02, 5), ('P4', 0.02, 4), ('K80', 0.02, 3), ('M60', 0.02, 5), ('U30', 0.02, 4),
    ('VU9P', 0.05, 6), ('VU47P', 0.05, 8), ('Radeon-Pro-V520', 0.02, 4),
    ('RTX-PRO-6000', 0.2, 15), ('RTX-PRO-5000', 0.1, 8), ('RTX-PRO-4500', 0.05, 8), ('RTX-PRO-4000', 0.03, 5),
    ('RTX-6000-Ada', 0.1, 8), ('RTX-5000-Ada', 0.05, 5), ('RTX-4000-Ada', 0.03, 4), ('RTX-2000-Ada', 0.02, 3),
    ('RTX-5880-Ada', 0.05, 6), ('RTX-A6000', 0.05, 8), ('RTX-A5000', 0.02, 5), ('RTX-A4500', 0.02, 4),
    ('RTX-A4000', 0.02, 4), ('RTX-A2000', 0.01, 3), ('RTX-6000', 0.05, 6), ('RTX-5000', 0.03, 4), ('RTX-4000', 0.02, 3),
    ('RTX-5090', 0.08, 10), ('RTX-5080', 0.03, 4), ('RTX-5070-Ti', 0.02, 3), ('RTX-5070', 0.02, 3),
    ('RTX-5060-Ti', 0.01, 2), ('RTX-4090', 0.06, 8), ('RTX-4080', 0.03, 4), ('RTX-4070-Ti-SUPER', 0.02, 3),
    ('RTX-4070-Ti', 0.02, 3), ('RTX-4070', 0.02, 3), ('RTX-4060', 0.01, 2), ('RTX-3090-Ti', 0.03, 4),
    ('RTX-3090', 0.03, 4), ('RTX-3080-Ti', 0.02, 3), ('RTX-3080', 0.01, 3), ('RTX-3070-Ti', 0.01, 2),
    ('RTX-3070', 0.01, 2), ('RTX-3060-Ti', 0.01, 2), ('RTX-3060', 0.01, 2), ('RTX-2080-Ti', 0.01, 2),
    ('RTX-2060-SUPER', 0.01, 2), ('GTX-1050', 0.01, 2), ('GTX-1050-Ti', 0.01, 2)
) as band (accelerator_name, limit_low, limit_high)
