"""The endpoints, the limits and the launch."""
