"""Where the public corpora are published, and their checksums where those are known."""

from __future__ import annotations

from bayesift.datasets.fetch import RemoteFile

_FIGSHARE = "https://ndownloader.figshare.com/files"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_JMLR = "https://jmlr.csail.mit.edu/papers/volume5/lewis04a"
_ASREVIEW = "https://raw.githubusercontent.com/asreview/systematic-review-datasets/metadata-v1-final/datasets"

REUTERS = (
    RemoteFile(
        "reuters21578.tar.gz",
        f"{_UCI}/reuters21578-mld/reuters21578.tar.gz",
        "3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
    ),
)
NEWSGROUPS = (
    RemoteFile(
        "20news-bydate.tar.gz",
        f"{_FIGSHARE}/5975967",
        "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
    ),
)
OHSUMED = (
    RemoteFile(
        "ohsumed-first-20000-docs.tar.gz",
        "http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",
    ),
)
OHSUMED_TREC9 = (
    RemoteFile("ohsumed-trec9/t9.filtering.tar.gz", "https://trec.nist.gov/data/filtering/t9.filtering.tar.gz"),
)
RCV1 = (
    RemoteFile(
        "rcv1/lyrl2004_vectors_train.dat.gz",
        f"{_FIGSHARE}/5976057",
        "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae",
    ),
    RemoteFile(
        "rcv1/lyrl2004_vectors_test_pt0.dat.gz",
        f"{_FIGSHARE}/5976069",
        "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374",
    ),
    RemoteFile(
        "rcv1/lyrl2004_vectors_test_pt1.dat.gz",
        f"{_FIGSHARE}/5976066",
        "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6",
    ),
    RemoteFile(
        "rcv1/lyrl2004_vectors_test_pt2.dat.gz",
        f"{_FIGSHARE}/5976063",
        "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5",
    ),
    RemoteFile(
        "rcv1/lyrl2004_vectors_test_pt3.dat.gz",
        f"{_FIGSHARE}/5976060",
        "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39",
    ),
    RemoteFile(
        "rcv1/rcv1v2.topics.qrels.gz",
        f"{_FIGSHARE}/5976048",
        "2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    ),
    RemoteFile("rcv1/rcv1.topics.hier.orig", f"{_JMLR}/a02-orig-topics-hierarchy/rcv1.topics.hier.orig"),
)
SMS_SPAM = (RemoteFile("sms-spam/smsspamcollection.zip", f"{_UCI}/00228/smsspamcollection.zip"),)
SCREENING = {
    "screening-cohen-adhd": RemoteFile(
        "screening/Cohen_2006_ADHD.csv", f"{_ASREVIEW}/Cohen_2006/output/online/ADHD.csv"
    ),
    "screening-cohen-triptans": RemoteFile(
        "screening/Cohen_2006_Triptans.csv", f"{_ASREVIEW}/Cohen_2006/output/online/Triptans.csv"
    ),
    "screening-kitchenham": RemoteFile(
        "screening/Kitchenham_2010.csv",
        f"{_ASREVIEW}/Hall_Wahono_Radjenovic_Kitchenham/output/Kitchenham_2010.csv",
    ),
    "screening-nagtegaal": RemoteFile(
        "screening/Nagtegaal_2019.csv",
        f"{_ASREVIEW}/Nagtegaal_2019/output/Nagtegaal_2019.csv",
        "abfbdb973aa125f26ce872a5193c931d0690f7fe2e1fb75551de9c0acecd200f",
    ),
}
