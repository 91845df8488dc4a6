"""The methods of StreamingLearner, one file each."""
