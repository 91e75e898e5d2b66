"""The leaderboard on sms-spam."""

from bayesift.reproduce.leaderboard.board import board

EXPERIMENT = board("sms-spam")
