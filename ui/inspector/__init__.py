"""What lies behind a token: its table, its reason, its filters, the attention and the beams."""
