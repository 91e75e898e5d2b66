"""The names by which the columns of tables are recognised."""

from __future__ import annotations

import re
from collections.abc import Iterable

OWN_PREFIX = "bayesift_"

# Without case, spaces and signs, the preferred name first.
_NAMES = {
    "id": """
        key recordid refid itemid lensid eid utuniquewosid centralid covidence internalid accessionnumber
        embaseaccessionid pui publicationid storeid paperid corpusid workid nctnumber trialid citationid bibcode
        uniqueidentifier ui pmid id""",
    "title": """
        title articletitle documenttitle itemtitle primarytitle papertitle studytitle citationtitle publictitle
        scientifictitle displayname ti t1""",
    "abstract": """
        abstract abstractnote abstracttext notesabstract citationabstract abstractinvertedindex description briefsummary
        ab summary n2""",
    "authors": """
        authors author authornames authorfullnames citationauthors authorships authorlist creators creator
        authorshipsauthordisplayname authorshipsrawauthorname authorsdisplayname au a1""",
    "year": """
        year publicationyear publishedyear pubyear yearpublished publicationdateyear yearofpublication py y1""",
    "date": """
        date publicationdate datepublished dateofpublication pubdate issued onlinedate coverdate published
        issueddateparts""",
    "journal": """
        journal journaltitle sourcetitle publicationtitle journalbook publication journalname secondarytitle
        containertitle pubtitle venue hostvenuedisplayname primarylocationsourcedisplayname source so t2 jf booktitle
        parenttitle anthologytitle abbreviatedsourcetitle""",
    "volume": "volume journalvolume volumenumber bibliovolume vl",
    "issue": "issue issuenumber journalissue number biblioissue is",
    "pages": """
        pages page pagination pageinfo pagerange journalpages startpage firstpage pagestart bibliofirstpage
        endpage lastpage pageend bibliolastpage artno articlenumber sp ep""",
    "doi": "doi itemdoi digitalobjectidentifier doilink doiurl idsdoi externalidsdoi bookdoi do",
    "pmid": "pmid pubmedid medlinepmid idspmid externalidspubmed pubmed",
    "keywords": """
        keywords authorkeywords indexkeywords keywordsplus keyword subjects subject meshterms mesh descriptors
        descriptor ieeeterms manualtags automatictags keywordsdisplayname subjectterms identifierkeywords
        emtreedrugindextermsmajorfocus emtreedrugindexterms emtreemedicalindextermsmajorfocus emtreemedicalindexterms
        fieldsofstudy kw de""",
    "url": """
        url link urls articleurl externalurl sourceurls documenturl fulltextlink embaselink fulltexturl plink pdflink
        sourcelinkout studyurl ur""",
    "language": "language languageoforiginaldocument articlelanguage languages lang la",
    "type": "itemtype documenttype publicationtype type doctype contenttype articletype ty",
    "notes": "notes note decisions extra comments generalnotes usernotes n1",
    "labels": "labels tags usertags",
    "decisions": """
        labelincluded finalincluded included asreviewlabel include decision screeningdecision finaldecision
        inclusiondecision screeningstatus citationscreeningstatus consensus label relevant relevance inclusion
        isincluded""",
}
TAGS = {part: tuple(names.split()) for part, names in _NAMES.items()}


def squeeze(name: str) -> str:
    """The name of a column without case, spaces and signs; annotations of bayesift keep their names."""
    return name.lower() if name.startswith(OWN_PREFIX) else re.sub(r"[\W_]+", "", name).lower()


def is_reference_table(columns: Iterable[str]) -> bool:
    """Whether the columns name a title and one more part of a record."""
    names = {squeeze(name) for name in columns}
    parts = [part for part, tags in TAGS.items() if not names.isdisjoint(tags)]
    return "title" in parts and len(parts) > 1
