"""Access to the service: users, tokens and sessions."""
