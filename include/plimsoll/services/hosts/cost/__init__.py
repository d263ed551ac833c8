"""What hosts cost: what was paid for each attempt, how kept hosts are shared out, and what a budget still allows."""
