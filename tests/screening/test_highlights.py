"""Words that people highlight: whole words, phrases, stars; in the log, the terminal and files."""

import io

import pytest

from bayesift.cli.screen_terminal import ScreeningSession, page, screen_line_by_line
from bayesift.errors import DataError
from bayesift.references import Reference, ReferenceList
from bayesift.screening import Project, ProjectSettings, Review
from bayesift.screening.highlights import find_highlights

TEXT = "Randomised, double\nblind trial of C++ (n=3) in mice; pretrial RANDOM. 随机对照试验"


@pytest.mark.parametrize(
    ("include", "exclude", "found"),
    [
        (["trial"], [], ["+trial"]),
        (["random*"], ["RANDOM"], ["+Randomised", "+RANDOM"]),
        (["*trial"], [], ["+trial", "+pretrial"]),
        (["double blind"], ["blind trial"], ["+double\nblind"]),
        (["mice"], ["mice"], ["+mice"]),
        (["C++"], ["(n=3)"], ["+C++", "-(n=3)"]),
        (["随机"], ["试验"], ["+随机", "-试验"]),
        (["*", " ", "("], [], []),
        ([], [], []),
    ],
)
def test_whole_words_phrases_and_stars(include, exclude, found):
    shown = [
        ("+" if each.include else "-") + TEXT[each.start : each.end]
        for each in find_highlights(TEXT, include, exclude)
    ]
    assert shown == found


@pytest.fixture
def review(tmp_path):
    records = [
        Reference(title="A trial in mice", abstract="Mice ran."),
        Reference(title="Corn"),
    ]
    settings = ProjectSettings(query="trial", highlight_include=("trial*",))
    with Project.create(
        tmp_path / "a", ReferenceList(tuple(records)), settings=settings
    ) as made:
        yield Review(made, "ann")


def test_they_are_kept_and_change_no_rank(review):
    before = review.ranked.ranks()
    review.set_highlights(include=["corn"], exclude=["mice"])
    assert review.ranked.ranks() == before
    folder = review.project.folder
    review.project.close()
    with Project(folder) as again:
        assert again.settings.highlight_include == ("corn",)
        assert again.settings.highlight_exclude == ("mice",)
        with pytest.raises(DataError, match="highlight_exclude must be a list of texts"):
            again.settings.changed({"highlight_exclude": "mice"})


def test_the_terminal_marks_them_by_signs_and_by_colours(review):
    target = io.StringIO()
    commands = "highlight exclude mice, corn\nhighlight\nhighlight mice\nopen 1\n"
    screen_line_by_line(review, io.StringIO(commands), target)
    told = target.getvalue()
    assert "[1] A [+trial] in mice" in told
    assert "include: trial*\nexclude: mice, corn" in told
    assert "highlight include WORDS, ..., or highlight exclude WORDS, ..." in told
    session = ScreeningSession(review)
    session.show(review.project.records["1"])
    styles = {
        line.plain[span.start : span.end]: str(span.style)
        for line in page(session, 60, 20)
        for span in line.spans
    }
    assert "underline" in styles["Mice"]
    assert "underline" not in styles["trial"]
