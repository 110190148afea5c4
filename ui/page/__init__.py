"""What stands around the tabs: the header, the switch, the meter, and the page that is made of all of them."""
