"""The leaderboard on 20newsgroups."""

from bayesift.reproduce.leaderboard.board import board

EXPERIMENT = board("20newsgroups")
