"""Deployments and how Prefect runs them."""
