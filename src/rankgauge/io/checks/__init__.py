"""Checks of the content of files, whatever their format."""
