"""The inspector, which explains a token: candidates, reason, filters, attention and beams."""
