"""The leaderboard on ohsumed."""

from bayesift.reproduce.leaderboard.board import board

EXPERIMENT = board("ohsumed")
