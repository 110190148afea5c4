"""The recurrent encoder-decoder that the transformer replaced, with one state passed from token to token."""
