"""How a definition's results move from campaign to campaign, and where they change. Pure."""
