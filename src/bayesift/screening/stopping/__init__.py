"""Decide when to stop screening: estimates, proofs by a random sample, and rules to compare.

`FindsForecast` estimates the number of relevant documents among the unseen from when the others
were found, `Forecast` from the texts; `SampleCheck` proves a bound by reading at random;
`STOPPING_RULES` has these and others, each with the statement it makes, what it assumes and what it
costs.
"""
