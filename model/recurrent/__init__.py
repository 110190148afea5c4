"""What the transformer replaced: an encoder and a decoder that carry one state from token to token."""
