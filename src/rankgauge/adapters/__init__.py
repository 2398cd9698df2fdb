"""Other entry points, thin over evaluation: pipeline logs, story search, trec_eval's command line."""
