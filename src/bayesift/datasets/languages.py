"""Scripts and languages of texts, guessed by their characters and by the commonest words of each language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_CHARACTERS = 1000  # of each text are looked at

_SCRIPTS = {
    "Latin": "a-z\u00c0-\u024f\u1e00-\u1eff",
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f",
    "Hebrew": "\u0590-\u05ff",
    "Devanagari": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
    "Kana": "\u3040-\u30ff",
    "Han": "\u3400-\u9fff\uf900-\ufaff",
    "Hangul": "\uac00-\ud7af\u1100-\u11ff",
}
_LETTERS = {script: re.compile(f"[{letters}]") for script, letters in _SCRIPTS.items()}
_BY_SCRIPT = {
    "Kana": "Japanese",
    "Han": "Chinese",
    "Hangul": "Korean",
    "Thai": "Thai",
    "Greek": "Greek",
    "Hebrew": "Hebrew",
}
_WORDS = {
    "English": "the of and to in is that for it was with as on be this are you not have but from they we what",
    "German": "der die und das ist nicht ein eine mit von auf für den zu dem sich auch es ich wir aber",
    "French": "le la les des et est une dans pour que qui pas sur avec au du ne je nous mais ce",
    "Spanish": "el los las que una por con para del como más pero su está es en lo se no y",
    "Portuguese": "não uma para com que os das mais como dos foi pelo são um ao em do da é",
    "Italian": "il che di per una non con della sono gli è del più ma nel anche le si",
    "Dutch": "het een van de en dat niet met voor zijn op aan ook maar wij ik je",
    "Swedish": "och att det som är inte på för med en till har jag den ett men vi",
    "Danish": "og at det som er ikke på for med en til har af jeg den men vi",
    "Norwegian": "og å det som er ikke på for med en til har av jeg den men vi",
    "Finnish": "ja on ei että se oli hän mutta kun ovat myös kuin olen niin",
    "Polish": "nie się na że jest do to jak ale po co tak za od przez",
    "Czech": "je se na že to nebo jsem ale jak pro by byl jsou tak od",
    "Hungarian": "az és hogy nem is egy van meg ez de csak már volt",
    "Romanian": "și nu este pe cu care din pentru că mai sau fi au",
    "Turkish": "ve bir bu da için ile çok gibi daha ne var de değil",
    "Indonesian": "yang dan di ini itu dengan untuk tidak dari dalam akan pada ada",
    "Russian": "и в не на что с как это по но из у за от так все он",  # noqa: RUF001 - Cyrillic
    "Ukrainian": "і в не на що з як це по але із у за від та все він",  # noqa: RUF001 - Cyrillic
    "Arabic": "في من على أن إلى هذا التي ما لا عن مع",
    "Hindi": "के है में की और से का को पर यह",
}
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_language)


def guess_language(text: str) -> str | None:
    """The language of a text, or else its script; None if it has no letters or too few words to tell.

    Examples
    --------
    >>> guess_language("der Preis ist zu hoch und die Ware kam nicht"), guess_language("今日はいい天気です")
    ('German', 'Japanese')
    """
    start = text[:_CHARACTERS].lower()
    letters = {script: len(pattern.findall(start)) for script, pattern in _LETTERS.items()}
    script = max(letters, key=letters.__getitem__)
    if not letters[script]:
        return None
    if script == "Han" and letters["Kana"]:
        return "Japanese"
    if script in _BY_SCRIPT:
        return _BY_SCRIPT[script]
    words = re.findall(r"\w+", start)
    hits = Counter(language for word in words for language in _LANGUAGES.get(word, ()))
    best = hits.most_common(1)
    return best[0][0] if best and best[0][1] >= 2 else None if script == "Latin" else f"{script} script"


def count_languages(texts: Iterable[str]) -> Counter[str]:
    """Number of texts in each language, of those that tell."""
    return Counter(language for text in texts if (language := guess_language(text)) is not None)
