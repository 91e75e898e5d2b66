"""Table 1: Reuters."""

from bayesift.reproduce.topical.tables import table

EXPERIMENT = table("topical:table-1", "reuters-labelled", largest={"RCut kNN": 1024, "SVM": 1024, "Additive LR": 1024})
