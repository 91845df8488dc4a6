"""Learners over event logs, resumable at any point: all that is shown was committed before."""
