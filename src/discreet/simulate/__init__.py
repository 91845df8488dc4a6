"""Problems, plans and the demo. Here data is made up, so nothing needs protection."""
