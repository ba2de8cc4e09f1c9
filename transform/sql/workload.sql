-- The workloads that published comparisons decide for, each as one model, one task and one load. Titles are those of
-- the articles that a figure comes from; where figure_source says so, the figure is our own choice.
select
    v.workload,
    v.workload_task,
    v.model_name,
    v.training_tokens,
    v.least_interactivity,
    v.figure_source
from (
    values
    (
        'pretraining-8b', 'training', 'llama-3.1-8b', 300e9, null,
        '300 billion tokens: "AWS Trainium3 vs NVIDIA H100: AI Training Cost and Performance in 2026"'
    ),
    (
        'pretraining-70b', 'training', 'llama-3.1-70b', 300e9, null,
        '300 billion tokens: "AWS Trainium3 vs NVIDIA H100: AI Training Cost and Performance in 2026"'
    ),
    (
        'pretraining-175b', 'training', 'gpt-3-175b', 300e9, null,
        '300 billion tokens: "AWS Trainium3 vs NVIDIA H100: AI Training Cost and Performance in 2026"'
    ),
    (
        'fine-tuning', 'training', 'Llama-2-70B (LoRA)', 1e8, null,
        'our choice of 100 million tokens; the model is that of MLPerf Training'
    ),
    (
        'serving-latency', 'serving', 'llama-2-70b', null, 25e0,
        'our choice: a token each 40 ms, the limit of MLPerf Inference''s Interactive scenario for the model'
    ),
    ('batch-serving', 'offline', 'llama-2-70b', null, null, 'our choice: MLPerf Inference''s Offline scenario'),
    (
        'non-transformer', 'training', 'resnet152', null, null,
        'ResNet-152: "AWS Trainium3 vs NVIDIA H100: AI Training Cost and Performance in 2026"; the load is not given'
    )
) as v (workload, workload_task, model_name, training_tokens, least_interactivity, figure_source)
