"""Answers before a decision: costs, what to buy, whether to move, how much to commit to."""
