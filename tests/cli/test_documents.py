"""Folders of documents and texts by line, from fit to classify."""

import json

from bayesift.corpora import load
from tests.tables.test_documents import DOCUMENTS, UNREADABLE


def test_a_folder_of_all_kinds_is_learned_and_a_flat_one_classified(run, tmp_path, write):
    for label in ("grain", "crude"):
        for name, (content, _) in DOCUMENTS.items():
            write(f"train/{label}/{name}", content)
            write(f"train/{label}/{label}-{name}.txt", f"{label} prices of {name}")
    write("train/grain/scan.pdf", UNREADABLE["scan.pdf"][0])
    folder = tmp_path / "train"
    code, out, err = run("fit", folder, "-o", tmp_path / "m.zip", "--model", "naive-bayes")
    assert code == 0, err
    assert "learned from 32 documents in 2 categories" in out
    assert "records skipped: 1" in err
    assert "scan.pdf: is a PDF file without text" in err
    for name, (content, _) in [*DOCUMENTS.items(), *UNREADABLE.items()]:
        write(f"new/{name}", content)
    code, out, err = run("classify", tmp_path / "m.zip", tmp_path / "new")
    assert code == 0, err
    answers = [json.loads(line) for line in out.splitlines()]
    assert sorted(answer["id"] for answer in answers) == sorted(DOCUMENTS)
    assert "documents without text, left out: 2" in err
    assert "records skipped: 5" in err


def test_a_text_per_line_is_a_corpus_without_labels(write, run, tmp_path):
    path = write("texts.txt", "wheat rose again\n\noil fell\ncorn is dear\n")
    corpus = load(path)
    assert [(document.id, document.text) for document in corpus][1] == ("3", "oil fell")
    assert [str(note) for note in corpus.notes] == ["text: each line (the file is no table)"]
    code, out, _ = run("check", path)
    assert code == 0
    assert "no document has a label" in out
    code, _, err = run("fit", path, "-o", tmp_path / "m.zip")
    assert (code, err.splitlines()[-1].startswith("bayesift: no document has a")) == (1, True)
