"""Check a corpus: labels, repeated texts, markup, encodings and languages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from itertools import takewhile
from statistics import median
from typing import Any, Literal

import numpy as np

from bayesift.records import Corpus, Document, ReadingProblem
from bayesift.records.document import RECORDS
from bayesift.tables.loading import EMPTY_DOCUMENT

_READ_CHARACTERS = 1000  # of each text are looked at

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
    "English": "the of and to in is that for it was with as on be this are you not have but from "
    "they we what",
    "German": "der die und das ist nicht ein eine mit von auf für den zu dem sich auch es ich wir "
    "aber",
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
    """Guess the language of a text, or else its script.

    The result is None if it has no letters or too few words to tell.

    Examples
    --------
    >>> guess_language("der Preis ist zu hoch und die Ware kam nicht")
    'German'
    >>> guess_language("今日はいい天気です")
    'Japanese'
    """
    start = text[:_READ_CHARACTERS].lower()
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
    if best and best[0][1] >= 2:
        return best[0][0]
    if script == "Latin":
        return None
    return f"{script} script"


def count_languages(texts: Iterable[str]) -> Counter[str]:
    """Count the texts in each language, of those that tell."""
    return Counter(language for text in texts if (language := guess_language(text)) is not None)


Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

_MAX_EXAMPLES = 3
_SAMPLE_DOCUMENTS = 5_000  # documents that are looked at closely, spread over the corpus
# the latter also stand in names
_PLAIN_SEPARATORS = "|;"
_SEPARATORS = ",/+&"
_TAGS = (
    ""
    "a|b|body|br|div|em|font|h[1-6]|html|i|img|li|p|pre|script|span|strong|style|table|td|th|tr|ul"
)
_MARKUP = re.compile(
    rf"</?(?:{_TAGS})\b[^>]*>|&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|nbsp|apos);", re.IGNORECASE
)
# UTF-8 that was read as cp1252 and saved again, and the sign for what was lost.
_FOLLOWING = "\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u2013-\u203a\u20ac\u2122"
_MOJIBAKE = re.compile(f"[\u00c2\u00c3][{_FOLLOWING}]|\u00e2\u20ac|\u00ef\u00bb\u00bf|\ufffd")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_MIN_LETTERS_OF_WORD = 4  # shorter names are too often like one another
_MIN_DOCUMENTS_OF_MEANT = 5  # of the label that was meant
_MAX_USUAL_CHARACTERS = 200_000  # characters
_DENSE = frozenset(("Chinese", "Japanese", "Thai"))  # written without spaces
_STEMMED = re.compile(
    "Danish|Dutch|Finnish|French|German|Hungarian|Italian|Norwegian|Portuguese|Romanian|Russian|Spanish|Swedish|Turkish"
)


@dataclass(frozen=True)
class Finding:
    """Something about a corpus that its owner should know.

    Parameters
    ----------
    name : of the check
    severity : error (learning fails or is pointless), warning (the result suffers) or note
    message : what was found
    cure : what to do, with the option if there is one
    count : number of documents or labels concerned
    examples : the ids of the first documents, or the first labels
    """

    name: str
    severity: Severity
    message: str
    cure: str = ""
    count: int = 0
    examples: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return asdict(self) | {"examples": list(self.examples)}

    def __str__(self) -> str:
        if self.cure:
            return f"{self.message}; {self.cure}"
        return self.message


def check_corpus(corpus: Corpus, *, thorough: bool = True) -> tuple[Finding, ...]:
    """List what may be wrong with a corpus, the most severe first.

    Parameters
    ----------
    corpus : best loaded with `skip_bad`, so that rows that cannot be read are among the findings
    thorough : whether all texts are compared with one another; otherwise only a sample of texts is
        read

    Examples
    --------
    >>> labels = ["b", "a|b"] * 10
    >>> texts = [Document(str(k), f"text {k}", categories=(labels[k],)) for k in range(20)]
    >>> print(check_corpus(Corpus(tuple(texts), ("a|b", "b")))[0])
    1 of 2 labels look like several: 'a|b'; --separator '|'
    """
    checks: Sequence[Callable[[Corpus], Iterable[Finding]]] = (
        _check_reading,
        _check_presence,
        _check_label_column,
        _check_joined,
        _check_spelling,
        _check_sizes,
        _check_order,
    )
    if corpus.vectors is None:
        checks = (*checks, _check_leak, _check_characters, _check_lengths, _check_languages)
        checks = (*checks, _check_repeats) if thorough else checks
    findings = [finding for check in checks for finding in check(corpus)]
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def _finding(
    name: str, severity: Severity, message: str, cure: str = "", about: Sequence[str] = ()
) -> Finding:
    return Finding(name, severity, message, cure, len(about), tuple(about[:_MAX_EXAMPLES]))


def _check_reading(corpus: Corpus) -> Iterator[Finding]:
    empty = [problem for problem in corpus.problems if problem.message == EMPTY_DOCUMENT]
    bad = [problem for problem in corpus.problems if problem.message != EMPTY_DOCUMENT]
    if empty:
        lines = _lines(empty)
        message = f"{_some(empty, 'row')} without text{_where(lines)}, left out"
        yield _finding("empty-rows", "warning", message, "nothing, if they are few", lines)
    if bad:
        lines = _lines(bad)
        message = f"{_some(bad, 'row')} cannot be read{_where(lines)}: {bad[0].message}"
        yield _finding("bad-rows", "error", message, "--skip-bad leaves them out", lines)
    for note in corpus.notes:
        if note.what == RECORDS:
            cure = f"bayesift screen {corpus.name} screens them for a review"
            yield _finding("records", "note", f"{RECORDS} ({note.value})", cure)
            continue
        reason = f" ({note.reason})" if note.reason else ""
        cure = f"{note.option}, if it is wrong" if note.option else ""
        yield _finding(
            f"guessed-{note.what}".replace(" ", "-"),
            "note",
            f"{note.what}: {note.value}{reason}",
            cure,
        )


def _lines(problems: Iterable[ReadingProblem]) -> list[str]:
    return [str(problem.line) for problem in problems if problem.line is not None]


def _where(lines: Sequence[str]) -> str:
    return f" (line {_listed(lines)})" if lines else ""


def _check_presence(corpus: Corpus) -> Iterator[Finding]:
    unlabelled = [
        corpus.documents[row].id for row in np.flatnonzero(corpus.n_labels == 0).tolist()
    ]
    if len(unlabelled) == len(corpus):
        are_records = any(note.what == RECORDS for note in corpus.notes)
        if are_records:
            cure = f"bayesift screen {corpus.name} needs none"
        else:
            cure = "name the column with --label"
        yield _finding("no-labels", "error", "no document has a label", cure, unlabelled)
    elif unlabelled and corpus.is_multilabel:
        message = f"{_some(unlabelled, 'document')} without a label belong to no category"
        yield _finding("blank-labels", "note", message, "", unlabelled)
    elif unlabelled:
        message = (
            f"{_some(unlabelled, 'document')} without a label ({_listed(unlabelled)}), left out"
        )
        cure = "--multilabel keeps them as documents of no category"
        yield _finding("blank-labels", "warning", message, cure, unlabelled)


def _check_label_column(corpus: Corpus) -> Iterator[Finding]:
    names = list(_counts(corpus))
    labelled = int(np.count_nonzero(corpus.n_labels))
    cure = "name another column with --label"
    if len(names) == 1 and labelled == len(corpus):
        message = f"every document has the same label, {names[0]!r}: there is nothing to learn"
        yield _finding("one-label", "error", message, cure, names)
    elif _are_ids(names, labelled):
        message = (
            f"{len(names):,} labels for {labelled:,} documents: ids or texts, not categories?"
        )
        yield _finding("id-labels", "error", message, cure, names)
    elif len(names) > 20 and all(_NUMBER.fullmatch(name) for name in names):
        message = (
            f"{len(names):,} labels, all numbers: each is learned as a category, without order"
        )
        yield _finding("number-labels", "warning", message, f"group them, or {cure}", names)


def _are_ids(names: Sequence[str], labelled: int) -> bool:
    return labelled >= 10 and len(names) > 0.5 * labelled


def _check_joined(corpus: Corpus) -> Iterator[Finding]:
    names = set(_counts(corpus))
    folded = {name.casefold() for name in names}
    for separator in _PLAIN_SEPARATORS + _SEPARATORS:
        split = {
            name: [part.strip() for part in name.casefold().split(separator)] for name in names
        }
        joined = {name: parts for name, parts in split.items() if len(parts) > 1 and all(parts)}
        uses = Counter(part for parts in joined.values() for part in set(parts))
        known = [
            sum(uses[part] > 1 or part in folded for part in parts) / len(parts)
            for parts in joined.values()
        ]
        # "|" and ";" hardly ever stand in a name, so that half of the parts need be labels too.
        enough = 0.5 if separator in _PLAIN_SEPARATORS else 1
        if joined and sum(share >= enough for share in known) > len(joined) / 2:
            message = (
                f"{len(joined):,} of {len(names):,} labels look like several: "
                f"{_quoted(sorted(joined))}"
            )
            yield _finding(
                "joined-labels",
                "warning",
                message,
                f"--separator '{separator}'",
                sorted(joined),
            )
            return
    listed = sorted(name for name in names if name.startswith("[") and name.endswith("]"))
    if listed:
        message = f"{_some(listed, 'label')} written as a list: {_quoted(listed)}"
        cure = "save the table as JSON or Parquet, where a label can be a list"
        yield _finding("listed-labels", "warning", message, cure, listed)


def _check_spelling(corpus: Corpus) -> Iterator[Finding]:
    spellings: dict[str, list[str]] = defaultdict(list)
    for name in filter(_is_no_number, _counts(corpus)):
        spellings[" ".join(re.split(r"[\s_-]+", name.casefold())).strip()].append(name)
    groups = [names for names in spellings.values() if len(names) > 1]
    if groups:
        shown = "; ".join(
            " = ".join(map(repr, names[:_MAX_EXAMPLES])) for names in groups[:_MAX_EXAMPLES]
        )
        message = f"labels that differ only in case, spaces or hyphens: {shown}"
        yield _finding(
            "label-spelling", "warning", message, "write each label in one way", groups[0]
        )
    typos = _find_typos(_counts(corpus))
    if typos:
        shown = "; ".join(
            f"{name!r}: perhaps {meant!r}"
            for name, meant in list(typos.items())[:_MAX_EXAMPLES]
        )
        message = f"{_some(typos, 'label')} with one document like a common one: {shown}"
        cure = "correct them, if they are typing errors"
        yield _finding("label-typos", "warning", message, cure, list(typos))


def _is_no_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is None


def _find_typos(counts: Mapping[str, int]) -> dict[str, str]:
    """Find labels with one document that are a typing error away from a common label.

    Names with digits are codes, where one character makes another category.
    """
    rare = [name for name, count in counts.items() if count == 1 and _is_word(name)]
    common = [
        name
        for name, count in sorted(counts.items(), key=lambda item: -item[1])
        if count >= _MIN_DOCUMENTS_OF_MEANT and _is_word(name)
    ]
    typos = {}
    for name in rare:
        for meant in common:
            if _is_one_error_away(name.casefold(), meant.casefold()):
                typos[name] = meant
                break
    return typos


def _is_word(name: str) -> bool:
    return len(name) >= _MIN_LETTERS_OF_WORD and not any(map(str.isdigit, name))


def _is_one_error_away(name: str, other: str) -> bool:
    """Whether a character is missing, added, another one, or exchanged with the next."""
    if abs(len(name) - len(other)) > 1:
        return False
    start = _count_shared(name, other)
    name = name[start:]
    other = other[start:]
    end = _count_shared(name[::-1], other[::-1])
    name = name[: len(name) - end]
    other = other[: len(other) - end]
    is_exchange = len(name) == 2 and name == other[::-1]
    return is_exchange or 0 < max(len(name), len(other)) < 2


def _count_shared(name: str, other: str) -> int:
    """Count the first characters that are the same."""
    pairs = zip(name, other, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _check_sizes(corpus: Corpus) -> Iterator[Finding]:
    counts = _counts(corpus)
    labelled = int(np.count_nonzero(corpus.n_labels))
    if not _are_ids(list(counts), labelled):
        typos = _find_typos(counts)
        for name, severity, what, low, high in _SIZES:
            small = [
                label
                for label, count in counts.items()
                if low <= count <= high and label not in typos
            ]
            if small:
                message = f"{_some(small, 'label')} with {what}: {_quoted(small)}"
                it = "it" if len(small) == 1 else "them"
                yield _finding(
                    name,
                    severity,
                    message,
                    f"add documents, or join {it} with another label",
                    small,
                )
    if len(counts) > 1 and max(counts.values()) > 0.95 * labelled:
        largest = max(counts, key=counts.__getitem__)
        message = (
            f"{counts[largest] / labelled:.1%} of the documents are {largest!r}: accuracy "
            "says little"
        )
        yield _finding(
            "imbalance", "note", message, "look at F1 and average precision", [largest]
        )
    if {"train", "test"} <= set(corpus.splits):
        unknown = sorted(
            set(_counts(corpus.split("test"))) - set(_counts(corpus.split("train")))
        )
        if unknown:
            message = f"{_some(unknown, 'label')} in the test split only: {_quoted(unknown)}"
            cure = "move documents to the train split: what is not learned cannot be found"
            yield _finding("test-only-labels", "warning", message, cure, unknown)


_SIZES: tuple[tuple[str, Severity, str, int, int], ...] = (
    ("labels-with-one", "warning", "one document", 1, 1),
    ("labels-with-few", "note", "two to four documents", 2, 4),
)


def _check_order(corpus: Corpus) -> Iterator[Finding]:
    # Equal sets of labels have equal sums of random numbers.
    labels = (corpus.indicator @ np.random.default_rng(0).random(len(corpus.categories)))[
        corpus.n_labels > 0
    ]
    n_distinct = len(np.unique(labels))
    runs = 1 + int(np.count_nonzero(np.diff(labels)))
    if n_distinct > 1 and runs == n_distinct and len(labels) >= 3 * runs:
        cure = "nothing for fit; but the first or last rows are no test"
        yield _finding("sorted", "note", "the rows are sorted by label", cure)


def _check_leak(corpus: Corpus) -> Iterator[Finding]:
    """Whether most texts hold the name of their own label, and few that of another."""
    documents = [document for document in _sample(corpus) if len(document.categories) == 1]
    if len(_counts(corpus)) < 2 or len(documents) < 20:
        return
    texts = [document.full_text.casefold() for document in documents]
    own = [document.categories[0].casefold() for document in documents]
    told = [len(name) > 2 and name in text for text, name in zip(texts, own, strict=True)]
    # A text with the label of the next document, where it is another, gives the level by chance.
    following = zip(texts, own, own[1:] + own[:1], strict=True)
    by_chance = [other in text for text, name, other in following if name != other]
    if sum(told) > 0.9 * len(told) and sum(by_chance) < 0.2 * len(by_chance):
        ids = [
            document.id for document, is_told in zip(documents, told, strict=True) if is_told
        ]
        message = (
            f"{sum(told) / len(told):.0%} of the texts hold the name of their label: do "
            "they give it away?"
        )
        yield _finding(
            "label-in-text", "warning", message, "name another column with --text", ids
        )


def _check_characters(corpus: Corpus) -> Iterator[Finding]:
    sample = _sample(corpus)
    marked = [document.id for document in sample if _MARKUP.search(document.full_text)]
    if len(marked) > 0.01 * len(sample):
        message = (
            f"HTML tags or entities in {len(marked) / len(sample):.0%} of the texts "
            f"({_listed(marked)})"
        )
        yield _finding("html", "warning", message, "--strip-html leaves them out", marked)
    broken = {
        document.id: found[0]
        for document in sample
        if (found := _MOJIBAKE.search(document.full_text))
    }
    if broken:
        signs = ", ".join(map(repr, dict.fromkeys(list(broken.values())[:_MAX_EXAMPLES])))
        message = (
            f"broken characters in {len(broken) / len(sample):.1%} of the texts: {signs} "
            f"({_listed(list(broken))})"
        )
        was_guessed = any(note.what == "encoding" for note in corpus.notes)
        cure = (
            "--encoding utf-8"
            if was_guessed
            else "save the file again as UTF-8 from its source"
        )
        yield _finding("mojibake", "warning", message, cure, list(broken))


def _check_lengths(corpus: Corpus) -> Iterator[Finding]:
    sample = _sample(corpus)
    if _DENSE.isdisjoint(count_languages(document.full_text for document in sample[:200])):
        words = {document.id: len(document.full_text.split()) for document in sample}
        short = [name for name, count in words.items() if count < 3]
        if len(short) > 0.05 * len(words):
            message = (
                f"{len(short) / len(words):.0%} of the texts have fewer than three words "
                f"({_listed(short)})"
            )
            cure = "name the column of the text with --text, if it is another"
            yield _finding(
                "short-texts",
                "warning" if median(words.values()) < 3 else "note",
                message,
                cure,
                short,
            )
    long = [
        corpus.documents[row].id
        for row in np.flatnonzero(corpus.text_lengths > _MAX_USUAL_CHARACTERS).tolist()
    ]
    if long:
        size = f"{_MAX_USUAL_CHARACTERS:,} characters"
        message = f"{_some(long, 'document')} longer than {size} ({_listed(long)})"
        yield _finding(
            "long-texts",
            "warning",
            message,
            "is it one text? A quote that is not closed joins rows",
            long,
        )
    if len(corpus) < 50:
        yield _finding(
            "few-documents",
            "note",
            f"{len(corpus):,} documents: too few to measure a model well",
        )


def _check_languages(corpus: Corpus) -> Iterator[Finding]:
    counts = count_languages(document.full_text for document in _sample(corpus))
    total = sum(counts.values())
    common = [name for name, count in counts.most_common(4) if count > 0.02 * total]
    if not common or common == ["English"]:
        return
    cure = f"try --stemmer {common[0].lower()}" if _STEMMED.fullmatch(common[0]) else ""
    if len(common) > 1:
        cure = "one model learns all; it needs documents of each label in each"
    elif common[0] in _DENSE:
        cure = "nothing: text without spaces is split into pairs of characters"
    message = "languages: " + ", ".join(f"{name} {counts[name] / total:.0%}" for name in common)
    yield _finding("languages", "note", message, cure, common)


def _check_repeats(corpus: Corpus) -> Iterator[Finding]:
    groups: dict[str, list[Document]] = defaultdict(list)
    for document in corpus:
        groups[" ".join(document.full_text.casefold().split())].append(document)
    groups.pop("", None)
    repeated = [group for group in groups.values() if len(group) > 1]
    torn = [
        group
        for group in repeated
        if len({document.categories for document in group if document.categories}) > 1
    ]
    if torn:
        ids = [document.id for group in torn for document in group]
        message = f"{_some(torn, 'text')} under different labels ({_listed(ids)})"
        yield _finding(
            "contradictions", "warning", message, "decide on one label for each", ids
        )
    known = [
        group for group in repeated if any(document.split == "train" for document in group)
    ]
    leaked = [
        document.id
        for group in known
        for document in group
        if document.split not in ("train", None)
    ]
    if leaked:
        message = (
            f"{_some(leaked, 'document')} of the test part also in the train part "
            f"({_listed(leaked)})"
        )
        yield _finding(
            "split-leak",
            "warning",
            message,
            "remove them from one part: scores are too good",
            leaked,
        )
    later = {document.id for group in repeated for document in group[1:]}
    extra = [name for name in corpus.ids if name in later]
    if extra:
        message = (
            f"{_some(extra, 'document')} with the text of an earlier one ({_listed(extra)})"
        )
        cure = "fit holds them out together; keep one of each in a file to test on"
        yield _finding(
            "duplicates",
            "warning" if len(extra) > 0.05 * len(corpus) else "note",
            message,
            cure,
            extra,
        )


def _counts(corpus: Corpus) -> Counter[str]:
    """Count the documents of each label that occurs."""
    return +corpus.category_counts()


def _sample(corpus: Corpus) -> Sequence[Document]:
    return corpus.documents[:: max(1, len(corpus) // _SAMPLE_DOCUMENTS)]


def _some(things: Sized, name: str) -> str:
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    shown = [name if len(name) <= 20 else f"{name[:17]}..." for name in names[:_MAX_EXAMPLES]]
    return ", ".join(shown) + (", ..." if len(names) > _MAX_EXAMPLES else "")


def _quoted(names: Sequence[str]) -> str:
    return _listed([repr(name if len(name) <= 16 else f"{name[:13]}...") for name in names])
