import zipfile

import pytest

from bayesift.corpora import load_sms_spam
from bayesift.errors import DataError


def test_file_and_archive(write, tmp_path):
    content = "ham\tOk lar\x85 so\nspam  £1000 now\r\n\n"
    path = write("sms-spam/SMSSpamCollection", content)
    corpus = load_sms_spam(tmp_path)
    assert [(d.id, d.text, d.categories) for d in corpus] == [
        ("1", "Ok lar\x85 so", ("ham",)),
        ("2", "£1000 now", ("spam",)),
    ]
    path.unlink()
    with zipfile.ZipFile(tmp_path / "sms-spam" / "smsspamcollection.zip", "w") as archive:
        archive.writestr("readme", "about")
        archive.writestr("SMSSpamCollection", content)
    assert load_sms_spam(tmp_path).fingerprint == corpus.fingerprint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ham\tOk\nhum\tNo\n", ":2: not a message"),
        (b"ham\tOk\nham\t\xff\n", ":2: cannot be decoded"),
        (b"", "holds no messages"),
    ],
)
def test_bad_files(write, tmp_path, content, message):
    write("sms-spam/SMSSpamCollection", content)
    with pytest.raises(DataError, match=message):
        load_sms_spam(tmp_path)


def test_bad_line_can_be_skipped(write, tmp_path):
    write("sms-spam/SMSSpamCollection", "ham\tOk\nhum\tNo\n")
    corpus = load_sms_spam(tmp_path, skip_bad=True)
    assert (corpus.ids, len(corpus.problems)) == (["1"], 1)


def test_archive_of_something_else(tmp_path):
    with zipfile.ZipFile(tmp_path / "smsspamcollection.zip", "w") as archive:
        archive.writestr("readme", "about")
    with pytest.raises(DataError, match="holds no SMSSpamCollection"):
        load_sms_spam(tmp_path)


@pytest.mark.corpus("sms-spam/SMSSpamCollection")
def test_counts(corpus_named):
    assert corpus_named("sms-spam").category_counts() == {"ham": 4_827, "spam": 747}
