"""Online learners: one folder per learner, named after it; inside, one file or folder per mode."""
