"""Seeded runs whose every decision, draw and charge is recorded: see benchmarks/equality.py."""
