-- usual_chips(): Chips that a reader asks of where nobody names others: those that are compared and written about.
select
    [
        'H100', 'H200', 'B200', 'B300', 'MI300X', 'A100-80GB', 'A100-40GB', 'L40S', 'Trainium1', 'Trainium2',
        'Trainium3', 'Inferentia2', 'TPU-v5e', 'TPU-v5p', 'TPU-v6e', 'TPU-v7', 'Gaudi3'
    ] as chips
