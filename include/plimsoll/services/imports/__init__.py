"""Import runs of other load generators into a campaign of the store."""
