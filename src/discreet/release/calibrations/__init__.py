"""The papers' own constants, as printed, for comparison. Nothing else in discreet uses them."""
