"""Table 2: 20 Newsgroups."""

from bayesift.reproduce.topical.tables import table

EXPERIMENT = table("topical:table-2", "20newsgroups", largest={"RCut kNN": 1024, "SVM": 1024, "Additive LR": 1024})
