"""What `benchmarks/mended.py` measures: one module per subject."""
