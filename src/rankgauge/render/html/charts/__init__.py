"""The pictures: panels of one width, which stand side by side on a screen and below each other on a phone."""
