"""Simulated problems, plans and the demo. All data is synthetic and needs no protection."""
