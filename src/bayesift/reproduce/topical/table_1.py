"""Table 1: Reuters."""

from bayesift.reproduce.topical.tables import table

EXPERIMENT = table("topical:table-1", "reuters-labelled", most_topics=512)
