"""The chapters without a browser."""
