-- usual_chips(): Chips that a headline speaks of where nobody names others.
select ['H100', 'H200', 'B200', 'B300', 'MI300X', 'A100-80GB', 'L40S', 'Trainium2'] as chips
