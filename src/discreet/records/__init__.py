"""Readers of people's records: contexts of requests, tables, and cells of logs."""
