"""Text of BibTeX: LaTeX accents, commands and braces to plain characters, and special characters back."""

from __future__ import annotations

import re
import unicodedata

# Combining characters of accent commands.
_ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
_SYMBOL_TABLE = """
    ss=ß ae=æ AE=Æ oe=œ OE=Œ aa=å AA=Å o=ø O=Ø l=ł L=Ł i=i j=j dh=ð DH=Ð th=þ TH=Þ dj=đ DJ=Đ textendash=\u2013
    textemdash=\u2014 textquoteleft=\u2018 textquoteright=\u2019 textquotedblleft=“ textquotedblright=”
    textbackslash=\\ textasciitilde=~ textasciicircum=^ ldots=… dots=… textunderscore=_ textregistered=®
    texttrademark=™ copyright=© S=§ pm=± times=\u00d7 leq=≤ geq=≥ alpha=\u03b1 beta=β gamma=\u03b3 delta=δ mu=μ
    lambda=λ sigma=\u03c3 kappa=κ Delta=Δ textdegree=° degree=° textless=< textgreater=> textbar=| lbrace={ rbrace=}
"""
_SYMBOLS = dict(pair.split("=", 1) for pair in _SYMBOL_TABLE.split())
_ACCENT = re.compile(r"""\\(?:([`'^~=."])\s*|([uvHcdbrk])(?=[\s{])\s*)(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))""")
_SYMBOL = re.compile(r"\\(" + "|".join(sorted(_SYMBOLS, key=len, reverse=True)) + r")(?![A-Za-z])(?:\{\}|[ \t]+|)")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?\s*")
_SPECIAL = re.compile(r"[\\{}$&%#_^~]")
_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
# Escaped characters stand here while braces and dollars are removed.
_KEPT = {character: chr(0xE000 + i) for i, character in enumerate("{}$&%#_\\^~")}
_BACK = {ord(place): character for character, place in _KEPT.items()}


def plain_text(text: str) -> str:
    r"""The text without LaTeX.

    Examples
    --------
    >>> plain_text(r'M{\"u}ller \& Garc{\'\i}a: {DNA} in \textit{E. coli}, 5\%')
    'Müller & García: DNA in E. coli, 5%'
    """
    if not any(character in text for character in "\\{}$~-"):
        return text
    text = re.sub(r"\\([{}$&%#_])", lambda match: _KEPT[match[1]], text)
    text = _ACCENT.sub(_accented, text)
    text = _SYMBOL.sub(lambda match: _kept(_SYMBOLS[match[1]]), text)
    text = _COMMAND.sub("", text)
    text = text.replace("~", " ").replace("---", "\u2014").replace("--", "\u2013")
    text = text.replace("\\\\", " ").translate({ord(character): None for character in "{}$"})
    return text.translate(_BACK)


def _kept(text: str) -> str:
    return _KEPT.get(text, text)


def _accented(match: re.Match[str]) -> str:
    letter = match[3] or match[4]
    return unicodedata.normalize("NFC", letter + _ACCENTS[match[1] or match[2]])


def latex_text(text: str) -> str:
    r"""The text with the special characters of LaTeX escaped, so that `plain_text` gives it back.

    Examples
    --------
    >>> latex_text("5% of R&D")
    '5\\% of R\\&D'
    """
    escaped = _SPECIAL.sub(lambda match: _ESCAPES.get(match[0], "\\" + match[0]), text)
    return re.sub(r"-(?=-)", "-{}", escaped)
