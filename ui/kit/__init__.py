"""What every feature of the page is made of; knows no feature."""
