"""The page of an encoder without a decoder, which replaces the tabs: it cannot generate text."""
