"""Tables and figures of the papers, and leaderboards: `python -m papers` prints the paper's values beside ours."""
