"""Privacy budgets: the privacy asked for, charges, the ledger, conversions, the guarantee."""
