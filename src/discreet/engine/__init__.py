"""When data becomes public, and how surely.

Schedules and plans, the turn record, coins, settings, journals and state files, the engine, rounds.
"""
