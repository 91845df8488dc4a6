"""Stories for `discreet demo`: what a shop shows, and what drives the price of a flat."""
