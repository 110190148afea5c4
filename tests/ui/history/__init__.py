"""The server's side of the history, without a browser."""
