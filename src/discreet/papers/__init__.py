"""The source papers: their algorithms, errata, reproduced tables and rival methods.

Only the command line and the benchmarks import this package.
"""
