"""What privacy costs: what is asked for, charges, the ledger, conversion, and the guarantee that
is given.
"""
