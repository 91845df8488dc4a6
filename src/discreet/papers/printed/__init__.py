"""The papers' algorithms as plain seeded loops in floating point: simulations for comparison.

`catalogue.py` finds an algorithm by its name. `promise.py` states the guarantee of a run:
`noise="sound"` is the default everywhere, `noise="printed"` must be requested.
`discreet/papers/errata/` computes what each printed statement needs to hold.
"""
