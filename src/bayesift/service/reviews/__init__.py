"""Reviews: people screen a pool of records for all that is relevant."""
