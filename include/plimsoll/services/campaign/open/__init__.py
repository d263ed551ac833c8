"""Open a campaign: what it will take, whether it can run here, and which cells a request means."""
