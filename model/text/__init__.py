"""Between text and token ids: tokenizers, conversations and languages."""
