"""What the visitor's own browser keeps of the tabs, and how it comes back."""
