"""The release engine: when data becomes public, and how that survives crashes and interrupts.

Plans and schedules, problems and views, snapshots, public coins, settings, journals and state
files, the engine, rounds.
"""
