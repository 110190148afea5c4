"""What belongs to the page and not to one tab."""
