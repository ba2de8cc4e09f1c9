"""Backup, restore, rebuild, retention, migration."""
