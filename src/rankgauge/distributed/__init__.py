"""Runs that outgrow one machine: an engine brings whole queries to the kernel, and the numbers are the same."""
