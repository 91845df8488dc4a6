"""After the door: what is decided from released values. Nothing here ever sees a person."""
