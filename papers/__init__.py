"""Tables and figures of the papers, and leaderboards, printed by `python -m papers`."""
