"""The modes of SetMinimizer, one file each."""
