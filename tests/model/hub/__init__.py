"""Downloads from the Hub, against a stand-in on this machine."""
