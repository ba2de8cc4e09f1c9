-- pass_flop(model): Operations of one token in one forward pass of a row of ref.model, attention left out.
-- physics.forward_flop_per_token with a context of 0.
select
    physics.forward_flop_per_token(
        model['parameters_active'], model['layers'], model['attention_size'], 0
    ) as flop
