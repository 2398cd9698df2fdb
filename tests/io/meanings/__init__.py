"""What random rows mean, by a plain loop, against every way in."""
