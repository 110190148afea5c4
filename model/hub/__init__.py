"""Downloads repositories of the Hugging Face Hub into checked folders."""
