"""`discreet demo`: what a shop shows (`display.py`), and what drives prices of flats
(`regression.py`).
"""
