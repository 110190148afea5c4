"""What a stranger's checkpoint has computed, in processes of its own with limits on time and memory."""
