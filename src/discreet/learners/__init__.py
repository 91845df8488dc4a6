"""One file a problem."""
