"""From a repository of the Hugging Face Hub to a checked folder on this machine."""
