"""What the papers print, as plain loops in floating point: for comparison only, it protects nobody."""
