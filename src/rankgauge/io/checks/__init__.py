"""What is odd or wrong in input that can be read all the same."""
