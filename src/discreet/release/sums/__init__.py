"""Continual sums: one file per mechanism that releases noisy prefixes of a stream."""
