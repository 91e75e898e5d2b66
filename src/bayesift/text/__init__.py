"""Text to term vectors: tokens, stop words, stems, a vocabulary that can grow, weights.

And to means of vectors.
"""

from bayesift.text.counting import WEIGHTINGS, weigh
from bayesift.text.embedding import SimilarText, TextEmbedder
from bayesift.text.language import ENGLISH_STOP_WORDS, stemmer, stop_words_of
from bayesift.text.markup import strip_html
from bayesift.text.scripts import UNSPACED
from bayesift.text.tokens import ANALYZERS
from bayesift.text.vectorizer import TermVectorizer
from bayesift.text.vectors import WordVectors
from bayesift.text.zipf import zipf_figure

__all__ = [
    "ANALYZERS",
    "ENGLISH_STOP_WORDS",
    "UNSPACED",
    "WEIGHTINGS",
    "SimilarText",
    "TermVectorizer",
    "TextEmbedder",
    "WordVectors",
    "stemmer",
    "stop_words_of",
    "strip_html",
    "weigh",
    "zipf_figure",
]
