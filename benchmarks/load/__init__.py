"""Many visitors at once: real Gradio clients over HTTP, and a page in a process of its own."""
