"""Worlds, plans and stories. Here data is made up, so nothing needs protection."""
