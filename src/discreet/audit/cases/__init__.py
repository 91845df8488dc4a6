"""Cases of the audit: one per mode of every learner, and one per selection."""
