"""GGUF files, the form in which llama.cpp, Ollama and LM Studio keep a model: one file with weights and vocabulary."""
