"""What can be done with the run that is shown: save, open, what if."""
