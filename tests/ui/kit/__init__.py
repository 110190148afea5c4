"""Components and assets."""
