"""Rival methods of streaming regression (`streaming/`) and their tables (`sco_tables.py`)."""
