"""The papers' algorithms as plain loops in floating point, seeded: simulations, for comparison.

`catalogue.py` finds an algorithm by its name, `promise.py` says what a run promises
(`noise="sound"` is the default everywhere, `noise="printed"` an explicit request), `errata/` shows
what the print needs to hold.
"""
