"""How `SetMaximizer` learns: one file a mode, all of the same shape."""
