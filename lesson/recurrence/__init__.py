"""Why attention was needed: a recurrent encoder-decoder by hand, and trained ones on a sentence."""
