"""What lies below the page: sockets, the limits on connections in number and time, and the log."""
