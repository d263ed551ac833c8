"""The result store: where what lies in it, and a campaign in it with its types."""
