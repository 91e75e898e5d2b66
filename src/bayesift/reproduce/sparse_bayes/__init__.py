"""Eyheramendy, Genkin, Ju, Lewis & Madigan (2003): one file a table or figure."""
