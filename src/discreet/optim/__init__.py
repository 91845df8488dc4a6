"""Optimisation after the door: decisions from released values, never from a person's data."""
