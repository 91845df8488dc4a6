"""The source papers: their algorithms, printed and sound, their errata, tables run again, and
rivals.

The top room: only commands and benchmarks know it.
"""
