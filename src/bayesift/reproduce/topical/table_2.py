"""Table 2: 20 Newsgroups."""

from bayesift.reproduce.topical.tables import table

EXPERIMENT = table("topical:table-2", "20newsgroups", most_topics=256)
