"""The glossary of the page."""
