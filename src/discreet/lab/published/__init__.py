"""What the papers print, as plain loops in floating point: for comparison only, it protects nobody.

`catalogue.py` finds an algorithm by its name; `slips/` shows what is wrong in print.
"""
