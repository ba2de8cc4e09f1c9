"""Answers before a decision: costs, break-even, commitments."""
