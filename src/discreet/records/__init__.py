"""Readers of people's rows: contexts, tables and cells of logs."""
