"""The charts: panels of one width, side by side on a large screen and stacked on a phone."""
