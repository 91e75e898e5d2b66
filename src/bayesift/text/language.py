"""What depends on the language: stop words and stems."""

from __future__ import annotations

from collections.abc import Callable
from typing import AnyStr

# The closed word classes of English, and the tokens of contractions ("don't": don, t).
_ENGLISH = {
    "articles and determiners": """
        a an the this that these those each every either neither both all any some no none such what whatever which
        whichever another other others same own several few fewer many more most much less least enough half""",
    "pronouns": """
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
        herself it its itself they them their theirs themselves one ones oneself who whom whose whoever whomever
        somebody someone something anybody anyone anything nobody nothing everybody everyone everything""",
    "prepositions": """
        about above across after against along alongside amid among amongst around as at before behind below beneath
        beside besides between beyond by concerning despite down during except for from in inside into like near of off
        on onto opposite out outside over past per regarding since than through throughout to toward towards under
        underneath unlike until till up upon versus via with within without""",
    "conjunctions": """
        and or nor but so yet if unless because although though whereas while whilst whether that lest once provided""",
    "be, have, do and modal verbs": """
        be am is are was were been being have has had having do does did done doing can could may might must shall
        should will would ought cannot""",
    "adverbs of grammar": """
        not never ever also too very just only even still already again almost always often sometimes seldom rather
        quite perhaps maybe however therefore thus hence moreover furthermore nevertheless nonetheless otherwise
        instead meanwhile indeed then there here now where when why how wherever whenever thereby therein thereof
        hereby herein whereby wherein elsewhere somewhere anywhere nowhere everywhere else away back further""",
    "contractions": """
        ain aren couldn didn doesn don hadn hasn haven isn ll mustn needn re shan shouldn ve wasn weren won wouldn""",
}

ENGLISH_STOP_WORDS: frozenset[str] = frozenset(" ".join(_ENGLISH.values()).split())


def stop_words_of(language: str) -> frozenset[str]:
    """Stop words of a language: our own list for English, that of the package `stop-words` for others.

    Examples
    --------
    >>> sorted(stop_words_of("english"))[:4]
    ['a', 'about', 'above', 'across']
    >>> "und" in stop_words_of("german")
    True
    """
    if language == "english":
        return ENGLISH_STOP_WORDS
    import stop_words

    if language not in stop_words.LANGUAGE_MAPPING.values():
        known = ", ".join(sorted(stop_words.LANGUAGE_MAPPING.values()))
        raise ValueError(f"no stop words for {language!r}; there are: {known}")
    return frozenset(stop_words.get_stop_words(language))


def stemmer(algorithm: str) -> Callable[[list[AnyStr]], list[AnyStr]]:
    """A function that stems a list of words, strings or their UTF-8 bytes.

    Parameters
    ----------
    algorithm : "porter" (the one of 1980), or a Snowball language such as "english" or "german"

    Examples
    --------
    >>> stemmer("porter")(["categories", "categorical", "filtering"])
    ['categori', 'categor', 'filter']
    """
    import Stemmer

    if algorithm not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise ValueError(f"no stemmer {algorithm!r}; there are: {known}")
    # Every word is stemmed once, so that a cache of stems would only cost time.
    stem: Callable[[list[AnyStr]], list[AnyStr]] = Stemmer.Stemmer(algorithm, 0).stemWords
    return stem
