"""One function per type of result: each makes a document of it, in the file of its topic."""
