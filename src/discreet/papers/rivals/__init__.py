"""What streaming regression is compared with (`streaming/`), and its published tables
(`sco_tables.py`).
"""
