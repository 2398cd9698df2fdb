"""Scripts of contributors: generated pages, refreshed examples, screenshots."""
