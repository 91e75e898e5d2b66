"""BibTeX: entries of any program.

What is unbalanced or lacks a comma is read as far as it goes and reported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import IO

from bayesift.references.layout import (
    MONTHS,
    Layout,
    Pairs,
    Parts,
    Values,
    all_of,
    express,
    first,
    pair_table,
    parse_date,
    split_names,
    tag_table,
    write_judgements,
)
from bayesift.references.lines import Entry, Report
from bayesift.references.reference import (
    Fields,
    Reference,
    normalise_doi,
    normalise_pmid,
    tidy,
)

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
    ss=ß ae=æ AE=Æ oe=œ OE=Œ aa=å AA=Å o=ø O=Ø l=ł L=Ł i=i j=j dh=ð DH=Ð th=þ TH=Þ dj=đ DJ=Đ
    textendash=\u2013 textemdash=\u2014 textquoteleft=\u2018 textquoteright=\u2019
    textquotedblleft=“ textquotedblright=” textbackslash=\\ textasciitilde=~ textasciicircum=^
    ldots=… dots=… textunderscore=_ textregistered=® texttrademark=™ copyright=© S=§ pm=±
    times=\u00d7 leq=≤ geq=≥ alpha=\u03b1 beta=β gamma=\u03b3 delta=δ mu=μ lambda=λ sigma=\u03c3
    kappa=κ Delta=Δ textdegree=° degree=° textless=< textgreater=> textbar=| lbrace={ rbrace=}
"""
_SYMBOLS = dict(pair.split("=", 1) for pair in _SYMBOL_TABLE.split())
_ACCENT = re.compile(
    r"""\\(?:([`'^~=."])\s*|([uvHcdbrk])(?=[\s{])\s*)(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))"""
)
_SYMBOL = re.compile(
    r"\\("
    + "|".join(sorted(_SYMBOLS, key=len, reverse=True))
    + r")(?![A-Za-z])(?:\{\}|[ \t]+|)"
)
_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\]]{0,200}\])?\s*")
_SPECIAL = re.compile(r"[\\{}$&%#_^~]")
_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
# Escaped characters stand here while braces and dollars are removed.
_KEPT = {character: chr(0xE000 + i) for i, character in enumerate("{}$&%#_\\^~")}
_BACK = {ord(placeholder): character for character, placeholder in _KEPT.items()}


def plain_text(text: str) -> str:
    r"""Convert LaTeX to plain text.

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
    r"""Escape the special characters of LaTeX, so that `plain_text` gives the text back.

    Examples
    --------
    >>> latex_text("5% of R&D")
    '5\\% of R\\&D'
    """
    escaped = _SPECIAL.sub(lambda match: _ESCAPES.get(match[0], "\\" + match[0]), text)
    return re.sub(r"-(?=-)", "-{}", escaped)


_START = re.compile(r"(?:^|(?<=[})]))[ \t]*@[ \t]*([A-Za-z]+)\s*[{(]", re.MULTILINE)
# Patterns that keep what they took (*+) and begin at the first of several blanks take time in
# proportion to the text.
_KEY = re.compile(r"\s*+([^\s,={}\"]*)(?:\s*+(?:,|(?=\}|\)|\Z))|\s*(?<=\s)(?=\w+\s*=))")
_NAME = re.compile(r"[\s,]*([A-Za-z][\w:.+/-]*)\s*=\s*")
_NEXT = re.compile(r"(?:,|(?<!\s))[^\S\n]*+\n\s*+[A-Za-z][\w:.+/-]*+\s*+=\s*+[{\"\w]")
_MARKS = re.compile(r"\\.|[{}\"]", re.DOTALL)
_BARE = re.compile(r"[^\s,#{}\"()]+")
_VERBATIM = frozenset(
    {"@type", "@key", "author", "doi", "url", "ee", "eprint", "month", "date", "year"}
)
_MAX_MACRO_CHARACTERS = 300  # macros may hold macros, and double each time
_SKIPPED = frozenset({"comment", "preamble", "string"})

_TYPES = pair_table(
    """
    article = JOUR
    inproceedings = CONF
    conference = CONF
    incollection = CHAP
    inbook = CHAP
    book = BOOK
    proceedings = CONF
    phdthesis = THES
    mastersthesis = THES
    thesis = THES
    techreport = RPRT
    report = RPRT
    unpublished = UNPB
    online = ELEC
    electronic = ELEC
    patent = PAT
    dataset = DATA
    software = COMP
    misc = GEN
    """
)
_NAMES = pair_table(
    """
    JOUR = article
    EJOUR = article
    CONF = inproceedings
    CPAPER = inproceedings
    CHAP = incollection
    BOOK = book
    THES = phdthesis
    RPRT = techreport
    UNPB = unpublished
    PAT = patent
    """
)

TAGS = tag_table(
    """
    id       @key
    title    title
    abstract abstract
    authors  author
    year     year date
    date     date month day
    journal  journal journaltitle booktitle fjournal school institution howpublished
    volume   volume
    issue    number issue
    pages    pages article-number eid articleno
    doi      doi
    pmid     pmid pubmedid pubmed_id pubmed-id
    keywords keywords keyword author_keywords keywords-plus mendeley-tags
    url      url ee link bdsk-url-1
    language language langid
    type     @type
    notes    note annote notes comment
    labels   groups
    """
)


def is_bibtex(head: str) -> bool:
    """Whether the beginning of a file is BibTeX."""
    return (
        re.search(
            r"^[^\S\n]*@[ \t]*[A-Za-z]+\s*[{(]\s*+[^\s{},=]*+\s*+[,=}]", head, re.MULTILINE
        )
        is not None
    )


def read_bibtex(lines: Iterable[tuple[int, str]], report: Report) -> Iterator[Entry]:
    """Read entries; macros of @string are replaced, @comment and @preamble are skipped."""
    text = "\n".join(line for _, line in lines)
    starts = list(_START.finditer(text))
    macros: dict[str, str] = {}
    line = 1
    position = 0
    for start, following in zip(
        starts, [*(match.start() for match in starts[1:]), len(text)], strict=True
    ):
        line = line + text.count("\n", position, start.end())
        position = start.end()
        kind = start[1]
        body = text[start.end() : following]
        if kind.lower() == "string":
            macros |= {
                name.lower(): value
                for name, value in _Body(body, macros).fields()
                if len(value) <= _MAX_MACRO_CHARACTERS
            }
        elif kind.lower() not in _SKIPPED:
            entry = _Body(body, macros)
            key = entry.key()
            fields = (("@type", kind), ("@key", key), *entry.fields())
            for problem in entry.problems:
                report(line, f"entry {key[:40]!r}: {problem}")
            yield Entry(line, fields)


class _Body:
    """What stands in the braces of an entry, read from left to right."""

    def __init__(self, text: str, macros: dict[str, str]) -> None:
        self.text = text
        self.macros = macros
        self.position = 0
        self.end = len(text.rstrip())
        self.closing = _closing_marks(text)
        self.problems: list[str] = []

    def key(self) -> str:
        match = _KEY.match(self.text)
        if match is None or _NAME.match(self.text):
            self.problems.append("no key")
            return ""
        self.position = match.end()
        return match[1]

    def fields(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while (match := _NAME.match(self.text, self.position)) is not None:
            self.position = match.end()
            found.append((match[1], self._value()))
            self._skip_rest()
        if self.text[self.position :].strip().strip("{}(), \n"):
            rest = tidy(self.text[self.position :])
            self.problems.append(
                f"{rest[:40]!r} is not understood; kept as a field without a name"
            )
            found.append(("", rest))
        elif not re.match(r"[\s,]*[})]", self.text[self.position :]):
            self.problems.append("no closing brace")
        return found

    def _value(self) -> str:
        parts = []
        while True:
            parts.append(self._part())
            match = re.compile(r"\s*#\s*").match(self.text, self.position)
            if match is None:
                return "".join(parts)
            self.position = match.end()

    def _part(self) -> str:
        opening = self.text[self.position : self.position + 1]
        if opening in ("{", '"'):
            return self._delimited()
        match = _BARE.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return self.macros.get(match[0].lower(), match[0])

    def _delimited(self) -> str:
        start = self.position + 1
        end = self.closing.get(self.position)
        # The brace of the entry may close a value, which then holds further fields.
        if end is not None and (end + 1 < self.end or not _NEXT.search(self.text, start, end)):
            self.position = end + 1
            return self.text[start:end]
        # Unbalanced: up to the next line that begins a field, or to the end.
        cut = _NEXT.search(self.text, start)
        self.problems.append("unbalanced braces or quotes")
        self.position = cut.start() if cut else len(self.text)
        value = self.text[start : self.position].rstrip()
        if not cut:
            return value.removesuffix("}").rstrip().rstrip('}",')
        return value.rstrip('",')

    def _skip_rest(self) -> None:
        """Pass over what stands between a value and the next comma, if a field follows."""
        if not re.compile(r"\s*(?:,|[})]\s*\Z|[})]|[A-Za-z][\w-]*\s*=|\Z)").match(
            self.text, self.position
        ):
            cut = _NEXT.search(self.text, self.position)
            if cut:
                rest = tidy(self.text[self.position : cut.start()])[:40]
                self.problems.append(f"{rest!r} is not understood, left out")
                self.position = cut.start()


def _closing_marks(text: str) -> dict[int, int]:
    """Find where each brace and quote is closed, in one pass; those never closed are left out."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    quotes: list[int | None] = [None]  # the last one within each brace that is open
    for match in _MARKS.finditer(text):
        position = match.start()
        if match[0] == "{":
            opened.append(position)
            quotes.append(None)
        elif match[0] == "}" and opened:
            closing[opened.pop()] = position
            quotes.pop()
        elif match[0] == "}":
            quotes[0] = None
        elif match[0] == '"':
            if quotes[-1] is not None:
                closing[quotes[-1]] = position
            quotes[-1] = position
    return closing


def write_bibtex(records: Iterable[Fields], stream: IO[str]) -> None:
    """Write records as BibTeX."""
    used: set[str] = set()
    for fields in records:
        about = dict(fields)
        key = base = re.sub(r"[\s,={}\"#%~\\()']+", "", about.get("@key", "")) or "record"
        number = 1
        while key.lower() in used:
            number += 1
            key = f"{base}-{number}"
        used.add(key.lower())
        stream.write(f"@{about.get('@type') or 'misc'}{{{key}")
        for name, value in fields:
            if name and not name.startswith("@"):
                stream.write(f",\n  {name} = {{{_balanced(value)}}}")
        stream.write("\n}\n\n")


def _balanced(value: str) -> str:
    """Remove the braces of a value if they are not balanced."""
    depth = 0
    for character in re.sub(r"\\.", "", value, flags=re.DOTALL):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            break
    if depth == 0 and not value.endswith("\\"):
        return value
    return re.sub(r"[{}]", "", value).rstrip("\\")


def decode_bibtex(tag: str, value: str) -> tuple[tuple[str, str]]:
    """Convert a field to plain text, except for names and addresses, which hold no LaTeX."""
    return ((tag, value if tag.lower() in _VERBATIM else plain_text(value)),)


def refine_bibtex(parts: Parts, values: Values) -> None:
    """Split authors at "and" and keywords at commas; months may be names or numbers."""
    words = all_of(values, BIBTEX.tags["keywords"])
    parts["keywords"] = tuple(
        dict.fromkeys(
            word
            for text in words
            for word in split_names([text], r"[;\n]" if ";" in text else r"[,\n]")
        )
    )
    parts["pages"] = re.sub(r"\s*[-\u2013\u2014]+\s*", "-", parts["pages"])
    parts["authors"] = split_authors(" and ".join(values.get("AUTHOR", ())))
    parts["type"] = _TYPES.get(parts["type"].lower(), "GEN")
    parts["doi"] = normalise_doi(first(values, ("DOI",)).replace("\\", "")) or normalise_doi(
        next(
            (text for text in all_of(values, ("URL", "EE")) if "doi.org/" in text), ""
        ).replace("\\", "")
    )
    parts["url"] = re.sub(r"\\([_%&#~])", r"\1", parts["url"])
    month = first(values, ("MONTH",))
    day = first(values, ("DAY",))
    if month and parts["year"] and "DATE" not in values:
        is_number = month.isdecimal() and len(month) <= 2 and 1 <= int(month) <= 12
        name = MONTHS[int(month) - 1] if is_number else month
        parts["date"] = parse_date(f"{name} {day}", parts["year"])
    parts["pmid"] = parts["pmid"] or _pmid(values)


def _pmid(values: Values) -> str:
    is_pubmed = "pubmed" in " ".join(values.get("EPRINTTYPE", ()))
    for text in all_of(values, ("NOTE", "ANNOTE", "EPRINT", "URL")):
        match = re.search(
            r"(?:PMID:?\s*|pubmed(?:\.ncbi\.nlm\.nih\.gov)?/)(\d{1,8})\b", text, re.IGNORECASE
        )
        if match or (is_pubmed and text.isdecimal()):
            return normalise_pmid(match[1] if match else text)
    return ""


def split_authors(text: str) -> tuple[str, ...]:
    """Split names at "and" outside of braces."""
    names = []
    depth = 0
    start = 0
    for match in re.finditer(r"[{}]|(?<!\s)\s+and\s+", text):
        if match[0] in "{}":
            depth += 1 if match[0] == "{" else -1
        elif depth <= 0:
            names.append(text[start : match.start()])
            start = match.end()
    names.append(text[start:])
    return tuple(name for part in names if (name := tidy(plain_text(part))))


_WRITTEN = pair_table(
    """
    type = @type
    id = @key
    title = title
    authors = author
    journal = journal
    year = year
    date = date
    volume = volume
    issue = number
    pages = pages
    doi = doi
    pmid = pmid
    url = url
    language = language
    keywords = keywords
    abstract = abstract
    notes = note
    """
)


def express_bibtex(reference: Reference) -> dict[str, Pairs]:
    """Convert the parts of a record to fields of BibTeX."""
    authors = map(latex_text, reference.authors)
    names = [f"{{{name}}}" if " and " in name else name for name in authors]
    others = {
        "type": [("@type", _NAMES.get(reference.type, "misc"))],
        "authors": [("author", " and ".join(names))],
        "pages": [("pages", reference.pages.replace("-", "--"))],
        "keywords": [("keywords", "; ".join(map(latex_text, reference.keywords)))],
        "notes": [
            ("note", latex_text("\n\n".join(reference.notes))),
            ("annote", latex_text("\n".join(write_judgements(reference)))),
        ],
    }
    for part in ("title", "journal", "volume", "issue", "language", "abstract"):
        others[part] = [(_WRITTEN[part], latex_text(getattr(reference, part)))]
    if reference.type in ("CONF", "CPAPER", "CHAP"):
        others["journal"] = [("booktitle", latex_text(reference.journal))]
    return express(reference, _WRITTEN, others)


BIBTEX = Layout(
    "bibtex",
    {part: tuple(map(str.upper, tags)) for part, tags in TAGS.items()},
    express_bibtex,
    refine_bibtex,
    decode=decode_bibtex,
)
