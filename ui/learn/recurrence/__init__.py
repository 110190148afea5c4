"""Why attention: what one vector can hold, and what attention changes."""
