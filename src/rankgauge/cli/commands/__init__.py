"""One file per noun with its commands; each is imported only when one of them runs."""
