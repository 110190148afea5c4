"""The models behind the page as deployments of Ray Serve: many processes, many machines, one page in front of them."""
