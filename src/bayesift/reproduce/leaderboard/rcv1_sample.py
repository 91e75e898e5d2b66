"""The leaderboard on rcv1-sample."""

from bayesift.reproduce.leaderboard.board import board

EXPERIMENT = board("rcv1-sample")
