"""What a checkpoint says about its texts: its generation config and its chat template."""
