"""What the papers' algorithms and ours are compared with."""
