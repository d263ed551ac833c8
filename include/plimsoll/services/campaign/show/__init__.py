"""What pages, lists and the command line show of campaigns."""
