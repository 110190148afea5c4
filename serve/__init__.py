"""Runs the models as deployments of Ray Serve, in many processes and on many machines, behind the page."""
