"""The laboratory: streams, audits, plots and stories. Here data is made up, so nothing needs protection."""
