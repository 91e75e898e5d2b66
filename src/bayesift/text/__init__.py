"""Text to term vectors: tokens, stop words, stems, a vocabulary that can grow, weights."""

from bayesift.text.plots import zipf_figure
from bayesift.text.stems import stemmer
from bayesift.text.stopwords import ENGLISH_STOP_WORDS, stop_words_of
from bayesift.text.tokens import Tokeniser, Tokens
from bayesift.text.vectorizer import TermVectorizer
from bayesift.text.vocabulary import Vocabulary
from bayesift.text.weighting import WEIGHTINGS, scale_to_length_one, weigh
from bayesift.text.words import Words, WordTable
from bayesift.text.zipf import frequency_ranks, moderate_zone

__all__ = [
    "ENGLISH_STOP_WORDS",
    "WEIGHTINGS",
    "TermVectorizer",
    "Tokeniser",
    "Tokens",
    "Vocabulary",
    "WordTable",
    "Words",
    "frequency_ranks",
    "moderate_zone",
    "scale_to_length_one",
    "stemmer",
    "stop_words_of",
    "weigh",
    "zipf_figure",
]
