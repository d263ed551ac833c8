"""Who holds a campaign, and which runs are at work."""
