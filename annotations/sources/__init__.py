"""Where files come from besides an upload and this machine: addresses and the Hugging Face Hub."""
