"""Learners at work: over event logs, resumable at any point. What is shown here was committed
before.
"""
