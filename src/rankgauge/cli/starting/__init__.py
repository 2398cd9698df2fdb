"""What ``rankgauge init`` finds in a folder, and the files that it writes for it."""
