"""The audit of published claims: each number held against bounds, its own arithmetic, prices and measurements."""
