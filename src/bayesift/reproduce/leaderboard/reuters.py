"""The leaderboard on reuters."""

from bayesift.reproduce.leaderboard.board import board

EXPERIMENT = board("reuters")
