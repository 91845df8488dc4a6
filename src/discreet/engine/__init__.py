"""The release engine: when data becomes public, and how that survives crashes and interrupts.

Modes and phases, their statistics and what follows from them (problems, plans, views), snapshots,
public coins, settings, journals and state files, the engine, rounds.
"""
