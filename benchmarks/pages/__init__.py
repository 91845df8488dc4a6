"""Sections of benchmarks/RESULTS.md, one module per topic; figures come from benchmarks/results."""
