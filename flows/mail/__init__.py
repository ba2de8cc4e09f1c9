"""Sending the weekly mail."""
