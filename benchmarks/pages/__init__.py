"""Sections of benchmarks/RESULTS.md: one module per topic, whose figures come from
benchmarks/results.
"""
