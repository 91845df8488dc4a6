"""Cases of the audit: one file per learner, one case per mode of it."""
