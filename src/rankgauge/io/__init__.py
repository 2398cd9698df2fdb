"""Reading and writing: files of any supported format in, columns out."""
