"""One file per file format; ``registry`` is the table of them."""
