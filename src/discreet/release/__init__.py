"""The only door: everything that turns personal data into something public.

Budgets and the ledger, schedules, exact noise, selection, running sums, turns and journals. A reader who wants to know where
privacy is spent reads this package and nothing else.
"""
