"""Speed and memory of bayesift against its peers, measured in one run: `make bench`."""
