"""Orchestration: the command line and the Prefect flows. Nothing imports this package."""
