"""All models and their peers on five corpora under one protocol: one file a corpus, one a contender."""
