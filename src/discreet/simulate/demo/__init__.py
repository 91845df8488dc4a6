"""`discreet demo`: the slates of a shop (`display.py`) and prices of flats (`regression.py`)."""
